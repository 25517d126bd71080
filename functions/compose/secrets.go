package compose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/gorizond/koldun/internal/names"
)

// ownSecret says in which field the composite names a Secret that Koldun writes for its own
// pods; empty if in none. A claim must not: its containers, or a server that it names, would
// get a login that is not its author's.
func (o observed) ownSecret() string {
	field, name := namedSecret("spec", o.state.GetComposite().GetResource().GetFields()["spec"], false)
	if name == "" {
		return ""
	}
	return fmt.Sprintf("%s: Secret %q has a name by which Koldun writes Secrets for its own pods, which no claim may read: give your Secret another name", field, name)
}

// namedSecret returns the first field at or below a value that names an own Secret, and the
// name. It does not know the kinds, so that no field is missing: the value is that of a field
// which names a Secret if the field says so.
func namedSecret(path string, value *structpb.Value, secret bool) (field, name string) {
	switch v := value.GetKind().(type) {
	case *structpb.Value_StringValue:
		if n := strings.TrimSpace(v.StringValue); secret && names.OwnSecret(n) {
			return path, n
		}
	case *structpb.Value_ListValue:
		for i, element := range v.ListValue.GetValues() {
			if field, name = namedSecret(fmt.Sprintf("%s[%d]", path, i), element, secret); name != "" {
				return field, name
			}
		}
	case *structpb.Value_StructValue:
		fields := v.StructValue.GetFields()
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			if field, name = namedSecret(path+"."+key, fields[key], secret && key == "name" || namesSecret(key)); name != "" {
				return field, name
			}
		}
	}
	return "", ""
}

// namesSecret reports whether the value of a field is a Secret's name, or has it in its field
// name. The key of an HMAC may be written into hashSecret itself.
func namesSecret(field string) bool {
	return field == "hfTokenRef" || field != "hashSecret" && strings.Contains(strings.ToLower(field), "secret")
}
