package cluster

import (
	"fmt"
	"io/fs"

	"github.com/gorizond/koldun/apis/crds"
)

// Koldun's API groups.
const (
	ClaimGroup   = "koldun.gorizond.io"
	ManagedGroup = "koldun.m.gorizond.io"
)

// Definitions returns Koldun's CRDs of an API group as YAML documents. It panics
// if there are none: they are part of the program.
func Definitions(group string) []string {
	files, err := fs.Glob(crds.Files, group+"_*.yaml")
	if err != nil || len(files) == 0 {
		panic(fmt.Sprintf("cannot find CRDs of group %q: %v", group, err))
	}
	out := make([]string, len(files))
	for i, name := range files {
		raw, err := crds.Files.ReadFile(name)
		if err != nil {
			panic(err)
		}
		out[i] = string(raw)
	}
	return out
}
