package preflight

import (
	"net/url"
	"strings"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// Secrets finds URLs with a password in them. They would stand in the state
// and in plans; every kind takes its credentials from a Secret as well.
func Secrets(f *crd.Field, spec any) []Finding { return secrets(f, spec, "spec") }

func secrets(f *crd.Field, v any, path string) []Finding {
	switch x := v.(type) {
	case string:
		for _, one := range strings.Split(x, ",") {
			u, err := url.Parse(strings.TrimSpace(one))
			if err != nil || u.User == nil {
				continue
			}
			if _, has := u.User.Password(); has {
				return []Finding{{Path: path, Message: "a password in a URL would stand in the state: put it into a Secret, and name that in the field beside"}}
			}
		}
	case map[string]any:
		var out []Finding
		for _, c := range f.Fields {
			if child, ok := x[c.Name]; ok {
				out = append(out, secrets(c, child, path+"."+c.Name)...)
			}
		}
		return out
	}
	return nil
}
