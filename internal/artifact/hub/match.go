package hub

import "strings"

// Match reports whether one of the patterns matches a path, as in the tools of
// Hugging Face: * matches any characters including slashes, and a pattern that
// ends in a slash all files of a folder.
func Match(patterns []string, path string) bool {
	for _, pattern := range patterns {
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
