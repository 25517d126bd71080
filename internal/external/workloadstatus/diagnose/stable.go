package diagnose

import (
	"regexp"
	"strings"
)

// masks are the parts of texts of nodes, registries and controllers that differ with
// each retry.
var masks = []struct {
	part *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\(combined from similar events\): `), ""},
	{regexp.MustCompile(`(?i)[,;(]?\s*\brequest ?id: ?[^\s,;:)]+\)?`), ""},
	{regexp.MustCompile(`\brun-r\w+\.scope\b`), "run-….scope"},
	// The attempt follows the UID in names of containers and sandboxes.
	{regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(_\d+\b)?`), "…"},
	{regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:?\d{2})?`), "…"},
	{regexp.MustCompile(`\b\d+\.\d+(ns|us|µs|ms|s)\b`), "…"},
	{regexp.MustCompile(`(?i)\b(back-off) (\d+(\.\d+)?(ms|s|m|h))+`), "$1"},
	// The local end of a connection.
	{regexp.MustCompile(`(\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:]+\]):\d+->`), "$1->"},
	{regexp.MustCompile(`/proc/\d+\b`), "/proc/…"},
	// Kubernetes generates the end of a name of these letters.
	{regexp.MustCompile(`(\b[Pp]ods? "[^"]*-)[bcdfghjklmnpqrstvwxz2456789]{5}"`), `$1…"`},
}

// identifier is an identifier of a container or an image; a number is none.
var identifier = regexp.MustCompile(`\b[0-9a-f]{12,}\b`)

// stable puts a text of another program on one line, without what differs with each
// retry.
func stable(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, m := range masks {
		text = m.part.ReplaceAllString(text, m.with)
	}
	return identifier.ReplaceAllStringFunc(text, func(id string) string {
		if strings.Trim(id, "0123456789") == "" {
			return id
		}
		return "…"
	})
}

// Same reports whether two texts of other programs say the same.
func Same(a, b string) bool { return stable(a) == stable(b) }

// short is the stable part of a text, of bounded length.
func short(text string) string {
	const limit = 400
	text = stable(text)
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}
