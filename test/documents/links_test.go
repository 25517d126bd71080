// Package documents checks the documents of the repository.
package documents_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

const root = "../.."

// TestLinks checks that relative links and anchors of Markdown files lead somewhere.
func TestLinks(t *testing.T) {
	all := pages(t)
	if len(all) < 50 {
		t.Fatalf("found %d Markdown files: the test reads the wrong folders", len(all))
	}
	known := map[string][]string{}
	for name, text := range all {
		known[name] = anchors(text)
	}
	for name, text := range all {
		for _, link := range links(text) {
			file, anchor, _ := strings.Cut(link, "#")
			target := name
			if file != "" {
				target = filepath.Join(filepath.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, link)
				continue
			}
			if anchor != "" && !slices.Contains(known[target], anchor) {
				t.Errorf("%s links to %s, and %s has no such heading", name, link, target)
			}
		}
	}
}

// TestNamedDocuments checks that the documents exist that code, manifests and messages name.
func TestNamedDocuments(t *testing.T) {
	named := regexp.MustCompile(`(?:^|[^\w./-])(docs/[\w./-]+\.md)(?:#([\w-]+))?`)
	all := pages(t)
	found := 0
	for name, text := range texts(t) {
		if !strings.Contains(text, "docs/") {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			found++
			if page, ok := all[filepath.FromSlash(m[1])]; !ok {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			} else if m[2] != "" && !slices.Contains(anchors(page), m[2]) {
				t.Errorf("%s names %s, which has no heading #%s", name, m[1], m[2])
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d names of documents: the test reads the wrong files", found)
	}
}

// TestMap checks that docs/README.md links to every document.
func TestMap(t *testing.T) {
	all := pages(t)
	listed := map[string]bool{}
	for _, link := range links(all[filepath.Join("docs", "README.md")]) {
		file, _, _ := strings.Cut(link, "#")
		listed[filepath.Join("docs", file)] = true
	}
	for name := range all {
		if name != filepath.Join("docs", "README.md") && strings.HasPrefix(name, "docs"+string(filepath.Separator)) && !listed[name] {
			t.Errorf("docs/README.md does not link to %s", name)
		}
	}
}

// pages returns the Markdown files of the repository by their path below its root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	return read(t, func(name string) bool { return filepath.Ext(name) == ".md" })
}

// texts returns the files of the repository that may name documents.
func texts(t *testing.T) map[string]string {
	t.Helper()
	kinds := []string{".go", ".md", ".yaml", ".yml", ".json", ".mk", ".tf", ".hcl", ".lua", ".sh", ".tpl", ".tmpl"}
	return read(t, func(name string) bool {
		return slices.Contains(kinds, filepath.Ext(name)) || filepath.Base(name) == "Makefile"
	})
}

// read reads the files that are wanted, without what is built or downloaded.
func read(t *testing.T, wanted func(name string) bool) map[string]string {
	t.Helper()
	skipped := []string{"bin", "_output", ".git", ".koldun", "node_modules"}
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			if errors.Is(err, fs.ErrNotExist) {
				return nil // another test has removed it
			}
			return err
		case d.IsDir() && slices.Contains(skipped, d.Name()):
			return filepath.SkipDir
		case !d.Type().IsRegular() || !wanted(path):
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		out[name] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	inline  = regexp.MustCompile("`[^`\n]+`")
	linking = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// links returns the relative links of a Markdown text.
func links(text string) []string {
	var out []string
	text = inline.ReplaceAllString(fence.ReplaceAllString(text, ""), "")
	for _, m := range linking.FindAllStringSubmatch(text, -1) {
		if link := m[1]; !strings.Contains(link, "://") && !strings.HasPrefix(link, "mailto:") {
			out = append(out, link)
		}
	}
	return out
}

var (
	heading  = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	labelled = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
	tagged   = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
)

// anchors returns the anchors that GitHub gives the headings of a Markdown text, and those
// that it names itself.
func anchors(text string) []string {
	var out []string
	count := map[string]int{}
	text = fence.ReplaceAllString(text, "")
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, labelled.ReplaceAllString(m[1], "$1"))
		if n := count[anchor]; n > 0 {
			anchor += "-" + strconv.Itoa(n)
		}
		count[anchor]++
		out = append(out, anchor)
	}
	for _, m := range tagged.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestAnchors compares anchors with the ones that GitHub makes.
func TestAnchors(t *testing.T) {
	got := anchors("# A `b` c\n## What's [new](x.md)?\n```\n# no heading\n```\n## A b c\n<a id=\"d\"></a>\n")
	want := []string{"a-b-c", "whats-new", "a-b-c-1", "d"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
