package fetch

import (
	"strings"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/objectstore"
)

// What a conversion needs, and no second copy of the weights: original/ and
// consolidated files repeat them in the layout of their authors' own tools.
var (
	defaultInclude = []string{"*.safetensors", "*.json", "tokenizer.model", "*.txt", "*.jinja", "*.md"}
	defaultExclude = []string{"original/*", "metal/*", "onnx/*", "openvino/*", "consolidated*.safetensors"}
)

// patterns choose files by their paths, as the hub's own client does: * matches
// any characters including slashes, ? one, [abc] and [!a-z] one of a set; a pattern
// that ends in a slash matches the whole folder.
type patterns struct{ include, exclude []string }

func newPatterns(include, exclude []string) (patterns, error) {
	p := patterns{include: include, exclude: exclude}
	if len(include) == 0 {
		p.include = defaultInclude
	}
	if len(include) == 0 && len(exclude) == 0 {
		p.exclude = defaultExclude
	}
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
	return matchAny(p.include, path) && !matchAny(p.exclude, path)
}

func matchAny(list []string, path string) bool {
	for _, pattern := range list {
		if strings.HasSuffix(pattern, "/") {
			pattern += "*"
		}
		if match(pattern, path) {
			return true
		}
	}
	return false
}

// match takes time proportional to the product of the lengths: it only extends the
// last star.
func match(pattern, s string) bool {
	star, retry := -1, 0
	p, i := 0, 0
	for i < len(s) {
		if p < len(pattern) && pattern[p] == '*' {
			star, retry = p, i
			p++
			continue
		}
		if n, ok := matchOne(pattern[p:], s[i]); ok {
			p += n
			i++
			continue
		}
		if star < 0 {
			return false
		}
		retry++
		p, i = star+1, retry
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchOne compares one byte with the beginning of a pattern and returns the length
// of that beginning.
func matchOne(pattern string, c byte) (int, bool) {
	switch {
	case pattern == "":
		return 0, false
	case pattern[0] == '?':
		return 1, true
	case pattern[0] == '[':
		if n, ok, closed := matchSet(pattern, c); closed {
			return n, ok
		}
	}
	return 1, pattern[0] == c
}

// matchSet compares with a set such as [abc], [a-z] or [!a-z]. A set without an end
// is not a set.
func matchSet(pattern string, c byte) (length int, ok, closed bool) {
	i, negated := 1, false
	if i < len(pattern) && pattern[i] == '!' {
		negated = true
		i++
	}
	for first := true; i < len(pattern) && (first || pattern[i] != ']'); first = false {
		low, high := pattern[i], pattern[i]
		if i+2 < len(pattern) && pattern[i+1] == '-' && pattern[i+2] != ']' {
			high = pattern[i+2]
			i += 2
		}
		ok = ok || (low <= c && c <= high)
		i++
	}
	if i >= len(pattern) {
		return 0, false, false
	}
	return i + 1, ok != negated, true
}
