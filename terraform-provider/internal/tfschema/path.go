package tfschema

import (
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// Path translates the rest of a YAML path after a field, such as
// ".lifecycleRules[0].days" or "[0].days", into an attribute path below base. It
// stops at the first step that the field does not have.
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
