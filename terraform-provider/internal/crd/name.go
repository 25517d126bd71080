package crd

import (
	"regexp"
	"strings"
)

// Snake returns the Terraform name of a field in snake_case. A run of capitals is
// one word (preConvertedPVCName), and so is a unit (chunkMaxMiB).
func Snake(name string) string {
	name = strings.NewReplacer("MiB", "Mib", "-", "_").Replace(name)
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if !upper(c) {
			b.WriteByte(c)
			continue
		}
		starts := i > 0 && (!upper(name[i-1]) || i+1 < len(name) && lower(name[i+1]))
		if starts {
			b.WriteByte('_')
		}
		b.WriteByte(c - 'A' + 'a')
	}
	return b.String()
}

func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
func lower(c byte) bool { return 'a' <= c && c <= 'z' }

// camelCase matches a name of more than one word.
var camelCase = regexp.MustCompile(`\b[a-z]+[A-Z][A-Za-z0-9]*\b`)

// rename replaces the names of fields in descriptions by their Terraform names.
func (f *Field) rename() {
	attributes := map[string]string{}
	f.Walk("", func(_ string, f *Field) { attributes[f.Name] = f.Attribute })
	f.Walk("", func(_ string, f *Field) {
		f.Description = camelCase.ReplaceAllStringFunc(f.Description, func(word string) string {
			if a, ok := attributes[word]; ok {
				return a
			}
			return word
		})
	})
}
