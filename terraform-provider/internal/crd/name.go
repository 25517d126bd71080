package crd

import "strings"

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
