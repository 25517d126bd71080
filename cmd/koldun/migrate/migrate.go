package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/internal/fault"
)

// Options change what is written.
type Options struct {
	// Claims is whether the target has the Configuration for claims as in Crossplane 1.
	Claims bool
	// Volumes makes Models of the volumes that the old system has filled.
	Volumes bool
	// HCL is whether only claims are written, as resources of the Terraform provider.
	HCL bool
}

// A kind describes how objects of an old kind become claims.
type kind struct {
	groups []string
	name   string
	to     string // kind of the claim
	// cluster is whether the claim belongs to no namespace.
	cluster bool
	// rule is whether the spec selects other objects. Without one of its fields it
	// would select more of them.
	rule bool
	// convert renames, drops and computes fields. Nil: all keep their places.
	convert func(*conversion)
	// build makes the object, if it is no claim, of what it takes. Nil: it is one.
	build func(c *conversion, metadata map[string]any) map[string]any
	// marks returns why a label or annotation is dropped; empty: it is kept.
	marks func(key string) string
	// skip returns why an object is not converted at all; empty: it is.
	skip func(*conversion) string
}

// selects reports whether a field of the kind chooses among other objects.
func (k *kind) selects(path string) bool {
	all := steps(path)
	if k.rule && len(all) > 1 && all[0] == "spec" && all[1] != "labels" {
		return true
	}
	return slices.ContainsFunc(all, func(name string) bool { return slices.Contains(selecting(), name) })
}

func kinds() []kind {
	return slices.Concat(koldunKinds(), hfKinds(), premKinds(), orchestraKinds())
}

// A Migrator converts objects of old systems. It is safe for concurrent use.
type Migrator struct {
	options Options
	schemas *validation.Schemas
	claims  map[string]*extv1.JSONSchemaProps
}

// New returns a Migrator.
func New(o Options) (*Migrator, error) {
	schemas, err := validation.Load()
	if err != nil {
		return nil, err
	}
	claims, err := claimSchemas()
	return &Migrator{options: o, schemas: schemas, claims: claims}, err
}

// A Result is what one old object becomes.
type Result struct {
	Objects []map[string]any // claims, and objects beside them; none: it was skipped
	Notes   []Note

	secrets []secretKey // that Notes tell the user to make
}

// Convert converts one object. Errors: Invalid, if no claim can be made of it.
func (m *Migrator) Convert(ctx context.Context, d *Document) (Result, error) {
	apiVersion, _ := d.Object["apiVersion"].(string)
	name, _ := d.Object["kind"].(string)
	c := &conversion{Migrator: m, record: &record{doc: d, from: map[string]string{}}, in: copyOf(d.Object)}
	c.old = strings.TrimSpace(name + " " + strings.TrimPrefix(c.namespace()+"/"+c.name(), "/"))
	group, _, _ := strings.Cut(apiVersion, "/")
	i := slices.IndexFunc(kinds(), func(k kind) bool { return k.name == name && slices.Contains(k.groups, group) })
	if i < 0 {
		c.note(unhandled(group), "", fmt.Sprintf("kind %s of %s is not converted", name, apiVersion), "keep it as it is, if you still need it")
		return Result{Notes: c.notes}, nil
	}
	c.kind = &kinds()[i]
	if why := c.skipped(); why != "" {
		c.info("", why)
		return Result{Notes: c.notes}, nil
	}
	claim, err := c.run(ctx)
	if err != nil {
		return Result{Notes: c.notes}, fault.Errorf(fault.Invalid, "cannot convert %s at %s: %s", OneLine(c.old), OneLine(d.where("")), OneLine(err.Error()))
	}
	if m.options.HCL && c.kind.build != nil {
		c.lose("", fmt.Sprintf("the Terraform provider has no resource for a %s", c.kind.to), "write it as YAML, without --terraform")
		return Result{Notes: c.notes}, nil
	}
	return Result{Objects: []map[string]any{claim}, Notes: c.notes, secrets: c.keys}, nil
}

// unhandled is the weight of an object of no known kind: that of an old system is
// lost, others are no business of ours.
func unhandled(group string) Level {
	for _, k := range kinds() {
		if slices.Contains(k.groups, group) && group != v1.Group {
			return Lost
		}
	}
	return Info
}

// skipped returns why the object is not converted.
func (c *conversion) skipped() string {
	owners, _ := get(c.in, "metadata.ownerReferences")
	if list, _ := owners.([]any); len(list) > 0 {
		kind, _ := get(list[0], "kind")
		name, _ := get(list[0], "name")
		return fmt.Sprintf("the old system made it for %v %q; Koldun makes its own", kind, name)
	}
	if c.kind.skip != nil {
		return c.kind.skip(c)
	}
	return ""
}

func (c *conversion) run(ctx context.Context) (map[string]any, error) {
	meta := c.metadata()
	if c.kind.convert != nil {
		c.kind.convert(c)
	}
	out := map[string]any{"apiVersion": v1.APIVersion, "kind": c.kind.to, "metadata": meta, "spec": map[string]any{}}
	spec := extv1.JSONSchemaProps{}
	if c.kind.build != nil {
		out = c.kind.build(c, meta)
	} else {
		spec = c.claims[c.kind.to].Properties["spec"]
	}
	claimed := filter{c.record, c.kind}
	for _, name := range sorted(c.in) {
		switch name {
		case "apiVersion", "kind", "metadata", "status":
		case "spec":
			if c.kind.build != nil {
				for _, f := range sorted(c.fields("spec")) {
					claimed.unknown(child("spec", f))
				}
				continue
			}
			if kept, ok := claimed.keep(&spec, c.in["spec"], "spec"); ok && kept != nil {
				out["spec"] = kept
			}
		default:
			claimed.unknown(name)
		}
	}
	if c.fault != nil {
		return nil, c.fault
	}
	if c.kind.build != nil {
		return out, nil
	}
	secrets := scrubber{c.record}
	secrets.scrub(out["spec"], "spec")
	secrets.scrub(out["metadata"], "metadata")
	return out, check{c.record, c.schemas, c.kind, out}.validate(ctx)
}
