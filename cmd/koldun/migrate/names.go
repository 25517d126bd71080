package migrate

import (
	"fmt"

	"github.com/gorizond/koldun/internal/fault"
)

// Names are those of the objects that were made so far, and of the keys of Secrets that
// users make for them, with the old objects that they were made of.
type Names map[string]string

// Add takes the names of a document. Two old objects can have one name now: most claims
// have no dots in their names, some have no namespace, and the names of Secrets join
// those of an object and its parts. Errors: Invalid.
func (n Names) Add(d *Document, r Result) error {
	of := OneLine(fmt.Sprintf("%v %q at %s", d.Object["kind"], textAt(d.Object, "metadata.namespace")+"/"+textAt(d.Object, "metadata.name"), d.where("")))
	made := map[string]string{}
	for _, obj := range r.Objects {
		meta, _ := obj["metadata"].(map[string]any)
		made[fmt.Sprintf("%v %v/%v", obj["kind"], meta["namespace"], meta["name"])] = fmt.Sprintf("becomes %v %q", obj["kind"], meta["name"])
	}
	for _, s := range r.secrets {
		made[fmt.Sprintf("Secret %s/%s key %s", s.namespace, s.secret, s.key)] = fmt.Sprintf("needs the key %q in Secret %q", s.key, s.secret)
	}
	for _, key := range sorted(made) {
		if first, taken := n[key]; taken {
			return fault.Errorf(fault.Invalid, "cannot convert %s: %s %s, too; rename one of them", of, first, made[key])
		}
	}
	for key := range made {
		n[key] = of
	}
	return nil
}

func textAt(obj map[string]any, path string) string {
	v, _ := get(obj, path)
	s, _ := v.(string)
	return s
}
