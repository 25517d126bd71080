package crds

import (
	"fmt"
	"sync"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// parsed holds a func() (*CustomResourceDefinition, error) for each file that
// Definition was asked for.
var parsed sync.Map //nolint:gochecknoglobals // remembers a pure function of embedded files

// Definition returns the definition in a file, which it parses once. All callers
// share the definition and must not change it.
func Definition(file string) (*extv1.CustomResourceDefinition, error) {
	once, _ := parsed.LoadOrStore(file, sync.OnceValues(func() (*extv1.CustomResourceDefinition, error) { return parse(file) }))
	get, _ := once.(func() (*extv1.CustomResourceDefinition, error))
	return get()
}

func parse(file string) (*extv1.CustomResourceDefinition, error) {
	raw, err := Files.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read CRD %q: %w", file, err)
	}
	d := &extv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(raw, d); err != nil {
		return nil, fmt.Errorf("cannot parse CRD %q: %w", file, err)
	}
	return d, nil
}
