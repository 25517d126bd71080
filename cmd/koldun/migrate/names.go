package migrate

import (
	"fmt"
	"maps"

	"github.com/gorizond/koldun/internal/fault"
)

// Names are those of the objects that were made so far, and of the keys of Secrets that
// users make for them.
type Names map[string]use

// A use is what an old object makes of a name.
type use struct {
	of     string // the old object
	what   string
	secret secretKey // with the hash of its value; zero for an object
}

// Add takes the names of a document. Two old objects can have one name now: most claims
// have no dots in their names, some have no namespace, and the names of Secrets join
// those of an object and its parts. A Secret with the same value serves several. Errors:
// Invalid.
func (n Names) Add(d *Document, r Result) error {
	of := OneLine(fmt.Sprintf("%v %q at %s", d.Object["kind"], textAt(d.Object, "metadata.namespace")+"/"+textAt(d.Object, "metadata.name"), d.where("")))
	made := map[string]use{}
	for _, obj := range r.Objects {
		meta, _ := obj["metadata"].(map[string]any)
		made[fmt.Sprintf("%v %v/%v", obj["kind"], meta["namespace"], meta["name"])] = use{of: of, what: fmt.Sprintf("becomes %v %q", obj["kind"], meta["name"])}
	}
	for _, s := range r.secrets {
		what := fmt.Sprintf("needs the key %q in Secret %q", s.key, s.secret)
		if s.key == "" {
			what = fmt.Sprintf("needs Secret %q", s.secret)
		}
		made[fmt.Sprintf("Secret %s/%s key %s", s.namespace, s.secret, s.key)] = use{of, what, s}
	}
	for _, key := range sorted(made) {
		first, taken := n[key]
		switch {
		case !taken, first.secret.secret != "" && first.secret == made[key].secret:
		case first.secret.secret != "":
			return fault.Errorf(fault.Invalid, "cannot convert %s: %s %s, too, with another value; rename one of them", of, first.of, made[key].what)
		default:
			return fault.Errorf(fault.Invalid, "cannot convert %s: %s %s, too; rename one of them", of, first.of, made[key].what)
		}
	}
	maps.Copy(n, made)
	return nil
}

func textAt(obj map[string]any, path string) string {
	v, _ := get(obj, path)
	s, _ := v.(string)
	return s
}
