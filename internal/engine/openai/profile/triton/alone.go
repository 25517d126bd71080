package triton

import (
	"strconv"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/fault"
)

// download fills the model repository: an archive is one already, and another file
// is version 1 of the model of its name. Variables carry what a claim says.
const download = `set -eu
get() {
  case ${2%%\?*} in
  *.tar.gz|*.tgz) curl -fsSL "$2" | tar -xz -C "$KOLDUN_DIR_MODELS" ;;
  *.tar) curl -fsSL "$2" | tar -x -C "$KOLDUN_DIR_MODELS" ;;
  *) mkdir -p "$KOLDUN_DIR_MODELS/$1/1"; f=${2%%\?*}; curl -fsSL -o "$KOLDUN_DIR_MODELS/$1/1/${f##*/}" "$2" ;;
  esac
}
`

// alone is the server itself, with the protocol of KServe.
func alone(d profile.Deployment) (profile.Start, error) {
	s := profile.Start{
		Command: []string{"tritonserver"},
		Args:    []string{"--model-repository=" + d.Folder, "--http-address=" + d.Host, "--http-port=" + d.Port},
		Env:     profile.Base(),
	}
	for i, m := range d.Models {
		switch {
		case m.File:
			continue // it is in the folder
		case !profile.IsURL(m.URI):
			return s, fault.Errorf(fault.Invalid, "%q is no URL: Triton loads a model repository from an http or https URL, or from modelSource", m.URI)
		case s.Prepare == "":
			s.Prepare = download
		}
		n := strconv.Itoa(i)
		s.Env["KOLDUN_MODEL_NAME_"+n], s.Env["KOLDUN_MODEL_URL_"+n] = m.Name, m.URI
		s.Prepare += `get "$KOLDUN_MODEL_NAME_` + n + `" "$KOLDUN_MODEL_URL_` + n + "\"\n"
	}
	return s, nil
}
