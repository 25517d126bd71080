package preflight

import "github.com/gorizond/koldun/terraform-provider/internal/crd"

// Secrets finds secrets in a spec that has the fields of f. Plans and the state
// would hold them, and each of the fields has one beside it that names a Secret.
func Secrets(f *crd.Field, spec any) []Finding {
	var out []Finding
	for _, s := range f.SecretValues(spec, "spec") {
		instead := "a field that takes one"
		if s.Instead != nil {
			instead = s.Instead.Attribute
		}
		message := "plans and the state would hold the secret: put it into a Secret, and name that in " + instead
		if s.InURL {
			message = "plans and the state would hold the credentials in the URL: put them into a Secret, and name that in " + instead
		}
		out = append(out, Finding{Path: s.Path, Message: message})
	}
	return out
}
