package tfschema

import (
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// Path turns what follows a field in a YAML path (".lifecycleRules[0].days",
// "[0].days") into the path of an attribute below the one given, as far as the
// field has it.
func Path(f *crd.Field, base path.Path, rest string) path.Path {
	for rest != "" {
		if inner, after, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]"); ok && rest[0] == '[' {
			i, err := strconv.Atoi(inner)
			switch {
			case f.Type == crd.List && err == nil:
				base = base.AtListIndex(i)
			case f.Type == crd.Map:
				base = base.AtMapKey(inner)
			default:
				return base
			}
			f, rest = f.Elem, after
			continue
		}
		rest = strings.TrimPrefix(rest, ".")
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if f.Type == crd.Map {
			return base.AtMapKey(rest)
		}
		c := f.Child(rest[:end])
		if c == nil {
			return base
		}
		base, f, rest = base.AtName(c.Attribute), c, rest[end:]
	}
	return base
}
