package enginepod

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/names"
)

// volumeKey names the volume with the API key of a server.
const volumeKey = "api-key"

// sidecar is the only client of the engine.
func (r Root) sidecar() workload.Container {
	api := r.Engine.API
	local := "http://127.0.0.1:" + names.PortRef(engine.PortEngine)
	args := []string{"llm", "--listen=:" + names.PortRef(engine.PortSidecar)}
	if api == nil {
		args = append(args, "--engine="+local)
	} else {
		args = append(args, "--protocol=openai", "--engine="+cmp.Or(api.URL, local+"/v1"))
	}
	args = append(args, "--session="+r.Session, "--runner="+names.Runner("$(POD_NAMESPACE)", "$(POD_NAME)"), "--model="+r.Model)
	if r.Member != "" {
		args = append(args, "--group="+r.Member)
	}
	var env map[string]string
	if p := r.Engine.Process; p != nil {
		args = append(args, "--supervisor=http://127.0.0.1:"+names.PortRef(engine.PortHealth))
		if p.KeyFile != "" { // no argument, because older images know none
			env = map[string]string{engine.EnvRestartKeyFile: p.KeyFile}
		}
	}
	if r.Engine.Slots > 1 {
		args = append(args, fmt.Sprintf("--slots=%d", r.Engine.Slots))
	}
	if r.Engine.Plain {
		args = append(args, "--tokenizer="+r.Spec.TokenizerFile)
	}
	args = append(args, timeouts(r.Timeouts)...)
	out := workload.Container{
		Name:      "llm",
		Image:     r.Spec.Koldun,
		Env:       env,
		Secrets:   []string{r.BusSecret},
		Login:     r.Login,
		ProbePort: engine.PortSidecar,
		Memory:    memory.Sidecar(r.Engine.Slots, api != nil),
		Request:   memory.Usual,
	}
	if api != nil {
		args = append(args, r.served()...)
		out.Folders = []string{engine.VolumeModel, volumeKey}
	}
	out.Args = args
	return out
}

// served are the arguments that say what the server offers.
func (r Root) served() []string {
	api := r.Engine.API
	args := []string{"--served-name=" + api.ServedName(r.Spec.ModelFile, cmp.Or(r.Spec.Model, r.Model))}
	for _, list := range []struct {
		flag   string
		values []string
	}{{"operations", api.Operations}, {"parameters", r.Engine.Parameters}, {"features", api.Features}} {
		if len(list.values) > 0 {
			args = append(args, "--"+list.flag+"="+strings.Join(list.values, ","))
		}
	}
	if api.Load.Known() {
		args = append(args, "--running-metric="+api.Load.Running, "--waiting-metric="+api.Load.Waiting)
	}
	if r.APIKey != nil {
		args = append(args, "--api-key-file="+names.DirRef(volumeKey)+"/key")
	}
	return args
}

// keyFile is a volume with one key of a Secret in the file "key".
func keyFile(ref v1.SecretKeyReference) corev1.VolumeSource {
	return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: ref.Name, Items: []corev1.KeyToPath{{Key: ref.Key, Path: "key"}}, DefaultMode: new(int32(0o440)),
	}}
}
