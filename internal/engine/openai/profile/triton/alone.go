package triton

import (
	"path"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// download makes a model repository of each URL: an archive is one already, and another
// file is version 1 of a model, called as Triton looks for it: model.onnx, model.plan.
// A repository is whole or missing, so that one in a cache is not downloaded again. What
// pods that ended left of it is removed: of a download that goes on, some file or folder
// was changed within 15 minutes.
// Variables carry what a claim says.
const download = `set -eu
fetch() { curl -fsSL "$1" && : >"$KOLDUN_DIR_TMP/fetched"; }
get() {
  for part in "$3".*; do
    changed=$(find "$part" -cmin -15 2>/dev/null) || continue
    [ -n "$changed" ] || rm -rf "$part"
  done
  [ ! -e "$3" ] || return 0
  part=$3.$POD_NAME
  rm -rf "$part" "$KOLDUN_DIR_TMP/fetched"
  mkdir -p "$part"
  case ${2%%\?*} in
  *.tar.gz|*.tgz) fetch "$2" | tar -xz -C "$part" ;;
  *.tar) fetch "$2" | tar -x -C "$part" ;;
  *) f=${2%%\?*}; f=${f##*/}; mkdir -p "$part/$1/1"; fetch "$2" >"$part/$1/1/model.${f##*.}" ;;
  esac
  [ -e "$KOLDUN_DIR_TMP/fetched" ]
  mv -T "$part" "$3" 2>/dev/null || { rm -rf "$part"; [ -e "$3" ]; }
}
`

// alone is the server itself, with the protocol of KServe. A path in a volume is a model
// repository, and so is what each URL becomes.
func alone(d profile.Deployment) (profile.Start, error) {
	s := profile.Start{Command: []string{"tritonserver"}, Env: profile.Base()}
	for i, m := range d.Models {
		if m.File {
			s.Args = append(s.Args, "--model-repository="+m.URI)
			continue
		}
		if !profile.IsURL(m.URI) {
			return s, fault.Errorf(fault.Invalid, "%q is no URL: Triton loads a model repository from an http or https URL, or from modelSource", m.URI)
		}
		name, archive := modelName(m), isArchive(m.URI)
		if !archive && path.Ext(base(m.URI)) == "" {
			return s, fault.Errorf(fault.Invalid, "%q is neither an archive nor a model file: its name must end as Triton's backends expect, such as .onnx or .plan", m.URI)
		}
		if s.Prepare == "" {
			s.Prepare = download
		}
		folder := d.Folder + "/" + names.Hash(8, name, m.URI)
		s.Args = append(s.Args, "--model-repository="+folder)
		n := strconv.Itoa(i)
		s.Env["KOLDUN_MODEL_NAME_"+n], s.Env["KOLDUN_MODEL_URL_"+n], s.Env["KOLDUN_MODEL_REPOSITORY_"+n] = name, m.URI, folder
		s.Prepare += `get "$KOLDUN_MODEL_NAME_` + n + `" "$KOLDUN_MODEL_URL_` + n + `" "$KOLDUN_MODEL_REPOSITORY_` + n + "\"\n"
	}
	s.Args = append(s.Args, "--http-address="+d.Host, "--http-port="+d.Port)
	return s, nil
}

// servedNames is the name of a model that is one file. Those of an archive, or of a
// repository in a volume, are the names of their folders, which are not known.
func servedNames(m profile.Model) []string {
	if m.File || isArchive(m.URI) {
		return nil
	}
	return []string{modelName(m)}
}

// modelName is the name of the folder of a model that is one file.
func modelName(m profile.Model) string {
	name := m.Name
	if !m.Named {
		name = strings.TrimSuffix(base(m.URI), path.Ext(base(m.URI)))
	}
	return strings.ReplaceAll(name, "/", "-")
}

func isArchive(uri string) bool {
	name := base(uri)
	return strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".tar")
}

// base is the name of the file at a URL.
func base(uri string) string {
	plain, _, _ := strings.Cut(uri, "?")
	return path.Base(plain)
}
