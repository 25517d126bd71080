package crd

import (
	"regexp"
	"strings"
)

// snake is the Terraform name of a field: words in lower case with underscores
// between them. Runs of capitals are one word (pvcName, preConvertedPVCName),
// units stay whole (chunkMaxMiB).
func snake(name string) string {
	name = strings.ReplaceAll(name, "MiB", "Mib")
	var b strings.Builder
	for i := 0; i < len(name); i++ {
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

// several is a name of more than one word.
var several = regexp.MustCompile(`\b[a-z]+[A-Z][A-Za-z0-9]*\b`)

// rename has the descriptions of a kind speak of fields by their names in
// Terraform.
func (f *Field) rename() {
	attributes := map[string]string{}
	f.Walk("", func(_ string, f *Field) { attributes[f.Name] = f.Attribute })
	f.Walk("", func(_ string, f *Field) {
		f.Description = several.ReplaceAllStringFunc(f.Description, func(word string) string {
			if a, ok := attributes[word]; ok {
				return a
			}
			return word
		})
	})
}
