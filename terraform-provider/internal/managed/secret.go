package managed

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// generates reports whether this resource generates its secret and writes it
// into a Secret of the cluster.
func generates(o tfschema.Object) bool { return !o[attrWrite].IsNull() }

// sources returns the findings about the attributes that give the secret.
func (r *Resource) sources(digest string, config tfschema.Object) []preflight.Finding {
	given := map[string]bool{digest: !config[digest].IsNull(), attrSecret: !config[attrSecret].IsNull(), attrWrite: generates(config)}
	count := 0
	for _, is := range given {
		if is {
			count++
		}
	}
	switch {
	case count == 0:
		return []preflight.Finding{{Message: "Set " + attrSecret + " or its hash " + digest + ", or generate a secret with " + attrWrite + "."}}
	case count > 1:
		return []preflight.Finding{{Path: digest, Message: "Set one of " + attrSecret + ", " + digest + " and " + attrWrite + ", not both or all."}}
	case !config[attrRotate].IsNull() && !given[attrWrite]:
		return []preflight.Finding{{Path: attrRotate, Message: "Only a generated secret can be rotated: set " + attrWrite + "."}}
	}
	return nil
}

// digest plans the SHA-256 of a secret that only the configuration holds.
func digest(attribute string, config, plan tfschema.Object) {
	switch secret := config[attrSecret]; {
	case secret.IsNull():
	case !secret.IsKnown():
		plan[attribute] = tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
	default:
		plan.Set(attribute, digestOf(config.Text(attrSecret)))
	}
}

// reveal returns the plan with the SHA-256 of a secret that is known only now.
func (r *Resource) reveal(plan, config tftypes.Value) tftypes.Value {
	c, err := r.crd()
	if err != nil || r.kind.Digest == "" {
		return plan
	}
	p, errP := tfschema.Unpack(plan)
	said, errC := tfschema.Unpack(config)
	a := c.Spec.Child(r.kind.Digest).Attribute
	if errP != nil || errC != nil || p[a].IsKnown() || said[attrSecret].IsNull() {
		return plan
	}
	p.Set(a, digestOf(said.Text(attrSecret)))
	return p.Pack(plan.Type())
}

func digestOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// root returns the attribute of a finding, or the empty path if it names none.
func root(name string) path.Path {
	if name == "" {
		return path.Empty()
	}
	return path.Root(name)
}
