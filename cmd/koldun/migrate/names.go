package migrate

import (
	"fmt"

	"github.com/gorizond/koldun/internal/fault"
)

// Names are those of the objects that were made so far, with the old objects that they
// were made of.
type Names map[string]string

// Add takes the names of the objects of a document. Two old objects can have one name
// now: claims have no dots in their names, and some no namespace. Errors: Invalid.
func (n Names) Add(d *Document, r Result) error {
	for _, obj := range r.Objects {
		meta, _ := obj["metadata"].(map[string]any)
		key := fmt.Sprintf("%v %v/%v", obj["kind"], meta["namespace"], meta["name"])
		of := OneLine(fmt.Sprintf("%v %q at %s", d.Object["kind"], textAt(d.Object, "metadata.namespace")+"/"+textAt(d.Object, "metadata.name"), d.where("")))
		if first, taken := n[key]; taken {
			return fault.Errorf(fault.Invalid, "cannot convert %s: %s becomes %v %q, too; rename one of them", of, first, obj["kind"], meta["name"])
		}
		n[key] = of
	}
	return nil
}

func textAt(obj map[string]any, path string) string {
	v, _ := get(obj, path)
	s, _ := v.(string)
	return s
}
