// Package ollama is the profile of Ollama.
package ollama

import (
	"path"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/engine/images"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/openai"
)

// Profile returns the profile. Ollama ignores tool_choice, logprobs, logit_bias
// and n, so it does not offer them.
func Profile() profile.Profile {
	return profile.Profile{
		Name:       "ollama",
		Image:      images.Ollama,
		Slots:      1,
		Operations: profile.Operations(openai.OperationEmbedding),
		Parameters: profile.Sampling(),
		Features:   profile.Features(openai.FeatureTools, openai.FeatureJSONSchema),
		ServedName: servedName,
		Unfit:      unfit,
		Context:    true,
		Start:      start,
		Alone:      profile.Alone{Port: 11434, Ready: "/api/tags", Live: "/"},
	}
}

// servedName returns names as Ollama lists them, with a tag.
func servedName(downloads bool, model, name string) string {
	if downloads {
		name = model
	}
	if strings.Contains(path.Base(name), ":") {
		return name
	}
	return name + ":latest"
}

// start keeps the model loaded for ever: by default Ollama unloads it after five
// minutes.
func start(l profile.Launch) profile.Start {
	s := profile.Start{Command: []string{"ollama", "serve"}, Env: profile.Base()}
	s.Env["OLLAMA_HOST"] = l.Listen() + ":" + l.Port
	s.Env["OLLAMA_MODELS"] = profile.Home + "/ollama"
	s.Env["OLLAMA_KEEP_ALIVE"] = "-1"
	s.Env["OLLAMA_NOPRUNE"] = "1"
	s.Env["OLLAMA_NO_CLOUD"] = "1" // no prompt leaves the pod
	s.Env["OLLAMA_NUM_PARALLEL"] = strconv.Itoa(l.Slots)
	s.Env["OLLAMA_MAX_LOADED_MODELS"] = "1"
	if l.SeqLen > 0 {
		s.Env["OLLAMA_CONTEXT_LENGTH"] = strconv.Itoa(l.SeqLen)
	}
	s.Env["KOLDUN_OLLAMA_MODEL"], s.Env["KOLDUN_OLLAMA_NAME"] = l.Model, l.ServedName
	s.Prepare = create
	if l.Downloads {
		s.Prepare = pull
	}
	return s
}

// unfit refuses weights without a chat template that Ollama reads: it ignores those
// of the hub's files, and answers badly without one.
func unfit(downloads bool, model string) string {
	if path.Base(model) == modelfile {
		return ""
	}
	return profile.NeedsGGUF("Ollama takes the chat template from a .gguf file or a Modelfile")(downloads, model)
}

const modelfile = "Modelfile"

// The scripts make the model in a server that ends before the real one starts.
// pull does nothing if a cache that outlives the pod has the model already; create
// makes it again, because its files may have changed. Variables carry what a claim
// says, so that no shell reads it.
const (
	serve  = "set -eu\nollama serve &\nuntil ollama list >/dev/null 2>&1; do kill -0 $!; sleep 0.2; done\n"
	lacks  = "ollama show \"$KOLDUN_OLLAMA_NAME\" >/dev/null 2>&1 || "
	finish = "kill $!\nwait || true\n"
	pull   = serve + lacks + "{ ollama pull \"$KOLDUN_OLLAMA_MODEL\"; [ \"$KOLDUN_OLLAMA_NAME\" = \"$KOLDUN_OLLAMA_MODEL\" ] || " +
		"ollama cp \"$KOLDUN_OLLAMA_MODEL\" \"$KOLDUN_OLLAMA_NAME\"; }\n" + finish
	create = serve + "case \"$KOLDUN_OLLAMA_MODEL\" in\n" +
		"*/" + modelfile + ") file=$KOLDUN_OLLAMA_MODEL ;;\n" +
		"*) file=$KOLDUN_DIR_TMP/" + modelfile + "; printf 'FROM %s\\n' \"$KOLDUN_OLLAMA_MODEL\" >\"$file\" ;;\nesac\n" +
		"ollama create \"$KOLDUN_OLLAMA_NAME\" -f \"$file\"\n" + finish
)
