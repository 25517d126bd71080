package fetch

import (
	"strings"

	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
)

// patterns choose files by their paths, as the hub's own client does: * matches
// any characters including slashes, ? one, [abc] and [!a-z] one of a set; a pattern
// that ends in a slash matches the whole folder.
type patterns struct{ include, exclude []string }

func newPatterns(include, exclude []string) (patterns, error) {
	p := patterns{}
	p.include, p.exclude = modelref.Files(include, exclude)
	for _, list := range [][]string{p.include, p.exclude} {
		for _, pattern := range list {
			if pattern == "" || len(pattern) > 1024 {
				return patterns{}, fault.Errorf(fault.Invalid, "cannot use file pattern %q: it is empty or too long", pattern)
			}
		}
	}
	return p, nil
}

// match reports whether the patterns choose a path. They never choose files that
// this package and the stores write: a repository may be a copy of such a folder.
func (p patterns) match(path string) bool {
	if path == names.Manifest || path == objectstore.WorkDir || strings.HasPrefix(path, objectstore.WorkDir+"/") {
		return false
	}
	return hub.Match(p.include, path) && !hub.Match(p.exclude, path)
}
