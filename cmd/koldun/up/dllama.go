package up

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// dllamaPrograms are the programs of distributed-llama on this machine.
type dllamaPrograms struct {
	folder string // empty if they are not found
}

// programNames are the programs that pods of distributed-llama run.
func programNames() []string { return []string{"dllama", "dllama-api"} }

// findDllama looks for the programs in a named folder, else on PATH, else in the
// folder distributed-llama beside the koldun binary. A named folder must have
// them: the error is NotFound.
func findDllama(named, path, beside string) (dllamaPrograms, error) {
	if named != "" {
		folder, err := filepath.Abs(named)
		if err != nil || !hasPrograms(folder) {
			return dllamaPrograms{}, fault.Errorf(fault.NotFound, "cannot use --dllama-bin %q: it does not hold the programs %s: build them with \"make engine\"", named, strings.Join(programNames(), " and "))
		}
		return dllamaPrograms{folder}, nil
	}
	for _, folder := range append(filepath.SplitList(path), filepath.Join(beside, "distributed-llama")) {
		if filepath.IsAbs(folder) && hasPrograms(folder) {
			return dllamaPrograms{folder}, nil
		}
	}
	return dllamaPrograms{}, nil
}

func hasPrograms(folder string) bool {
	for _, name := range programNames() {
		info, err := os.Stat(filepath.Join(folder, name)) //nolint:gosec // the user names the folder
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}

// check returns why a program cannot run here, or nil.
func (p dllamaPrograms) check(name string) error {
	switch {
	case !slices.Contains(programNames(), name):
		return fault.Errorf(fault.Unsupported, "the program %q is not of distributed-llama", name)
	case p.folder == "":
		return fault.Errorf(fault.NotFound, "the program %q of distributed-llama is not on this machine: run \"make engine\", or name its folder with --dllama-bin", name)
	}
	return nil
}
