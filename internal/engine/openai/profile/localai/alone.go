package localai

import (
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/names"
)

// configFile is the file with the configurations of the models.
const configFile = "models.yaml"

// alone serves any number of models. Models with a configuration, and files at a
// URL, are entries of one configuration file; LocalAI knows the others itself.
func alone(d profile.Deployment) (profile.Start, error) {
	s := profile.Start{Command: []string{"/local-ai", "run"}, Env: profile.Base()}
	s.Env["MODELS_PATH"] = d.Folder // as LocalAI's own examples have it
	var configs []json.RawMessage
	for _, m := range d.Models {
		switch {
		case len(m.Config) > 0:
			configs = append(configs, m.Config...)
		case isFile(m):
			configs = append(configs, entry(m, d.Folder))
		default:
			s.Args = append(s.Args, m.URI)
		}
	}
	s.Args = append(s.Args, "--models-path="+d.Folder, "--address="+d.Host+":"+d.Port, "--backends-path="+profile.Home+"/backends",
		"--enable-watchdog-idle=false", "--enable-watchdog-busy=false")
	if d.SeqLen > 0 {
		s.Args = append(s.Args, "--context-size="+strconv.Itoa(d.SeqLen))
	}
	if len(configs) == 0 {
		return s, nil
	}
	raw, err := json.MarshalIndent(configs, "", "  ") // JSON is YAML
	s.Files = map[string]string{configFile: string(raw) + "\n"}
	s.Args = append(s.Args, "--models-config-file="+profile.Config+"/"+configFile)
	return s, err
}

// servedNames are the names of the entries in the configuration file, or that by which
// LocalAI knows an entry of its gallery, or what it downloads from elsewhere.
func servedNames(m profile.Model) []string {
	if len(m.Config) > 0 {
		var out []string
		for _, entry := range m.Config {
			var config struct {
				Name string `json:"name"`
			}
			if json.Unmarshal(entry, &config) == nil && config.Name != "" {
				out = append(out, config.Name) // one without a name has none that can be known
			}
		}
		return out
	}
	if isFile(m) || profile.IsURL(m.URI) {
		return []string{m.Name}
	}
	_, entry, in := strings.Cut(m.URI, "@")
	if !in {
		entry = m.URI
	}
	return []string{path.Base(entry)}
}

// isFile reports whether a model is one file, in the volume or at a URL.
// Configurations at a URL LocalAI reads itself.
func isFile(m profile.Model) bool {
	plain, _, _ := strings.Cut(m.URI, "?")
	return m.File || profile.IsURL(m.URI) && !strings.HasSuffix(plain, ".yaml") && !strings.HasSuffix(plain, ".yml")
}

// entry is the configuration of a model that is one file. Each has a file of its
// own, whatever their URLs end in. LocalAI finds files of the volume below the folder.
func entry(m profile.Model, folder string) json.RawMessage {
	type download struct {
		Filename string `json:"filename"`
		URI      string `json:"uri"`
	}
	config := struct {
		Name       string            `json:"name"`
		Parameters map[string]string `json:"parameters"`
		Downloads  []download        `json:"download_files,omitempty"`
	}{Name: m.Name}
	file := strings.TrimPrefix(m.URI, folder+"/")
	if !m.File {
		plain, _, _ := strings.Cut(m.URI, "?")
		file = names.Join(names.MaxLabel, m.Name, names.Hash(8, m.URI)) + path.Ext(plain)
		config.Downloads = []download{{Filename: file, URI: m.URI}}
	}
	config.Parameters = map[string]string{"model": file}
	raw, _ := json.Marshal(config) // strings only
	return raw
}
