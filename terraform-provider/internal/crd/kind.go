package crd

import (
	"fmt"
	"slices"
	"sync"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/gorizond/koldun/apis/crds"
)

// Groups of Koldun's kinds.
const (
	Composite = "koldun.gorizond.io"
	Managed   = "koldun.m.gorizond.io"
)

// A Kind is one kind of object with its fields. It does not change after loading.
type Kind struct {
	Group, Version, Kind, Plural string
	Namespaced                   bool
	Description                  string
	Spec                         *Field // of composites: spec. Of managed resources: spec.forProvider
	Status                       *Field // of composites: status. Of managed resources: status.atProvider
}

// APIVersion returns group/version.
func (k *Kind) APIVersion() string { return k.Group + "/" + k.Version }

// loaded holds a func() (*Kind, error) for each file that Load was asked for.
var loaded sync.Map //nolint:gochecknoglobals // remembers a pure function of embedded files: parsing them takes most of the time of a schema

// Load returns a kind by its group and plural name. It reads the CRD once; all
// callers share the kind.
func Load(group, plural string) (*Kind, error) {
	file := group + "_" + plural + ".yaml"
	once, _ := loaded.LoadOrStore(file, sync.OnceValues(func() (*Kind, error) { return load(file) }))
	get, _ := once.(func() (*Kind, error))
	return get()
}

func load(file string) (*Kind, error) {
	d, err := crds.Definition(file)
	if err != nil {
		return nil, err
	}
	k, err := kindOf(d)
	if err != nil {
		return nil, fmt.Errorf("cannot use CRD %q: %w", file, err)
	}
	return k, nil
}

func kindOf(d *extv1.CustomResourceDefinition) (*Kind, error) {
	if len(d.Spec.Versions) != 1 {
		return nil, fmt.Errorf("it has %d versions, want 1", len(d.Spec.Versions))
	}
	v := d.Spec.Versions[0]
	k := &Kind{
		Group: d.Spec.Group, Version: v.Name, Kind: d.Spec.Names.Kind, Plural: d.Spec.Names.Plural,
		Namespaced: d.Spec.Scope == extv1.NamespaceScoped,
	}
	root, err := read(k.Kind, "", v.Schema.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	root.rename()
	k.Description = root.Description
	k.Spec, k.Status = root.Child("spec"), root.Child("status")
	if k.Spec == nil {
		return nil, fmt.Errorf("it has no spec")
	}
	if forProvider := k.Spec.Child("forProvider"); forProvider != nil {
		k.Spec = forProvider
		if k.Status != nil {
			k.Status = k.Status.Child("atProvider")
		}
	}
	for _, f := range k.Spec.Fields {
		if slices.Contains(reserved(), f.Attribute) {
			return nil, fmt.Errorf("field %q cannot be an attribute: %q means something to Terraform itself; name the field otherwise, for both", f.Name, f.Attribute)
		}
	}
	if k.Status == nil {
		k.Status = &Field{Name: "status", Attribute: "status", Type: Object}
	}
	return k, nil
}

// reserved returns the names that Terraform itself gives a meaning in resources.
// A field of a CRD needs another name: a Bucket has lifecycleRules, not a
// lifecycle.
func reserved() []string {
	return []string{"connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner"}
}
