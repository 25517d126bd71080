package external

// compositeAPI is the API version of dependents: they are composites.
const compositeAPI = "koldun.gorizond.io/v1"

// An Object is a Kubernetes object that depends on a managed resource: it is in
// the resource's namespace, owned by it, and deleted with it. Fields that Spec
// leaves out are left to other field managers.
type Object struct {
	APIVersion  string
	Kind        string
	Name        string
	Labels      map[string]string
	Annotations map[string]string
	Spec        map[string]any // as JSON decodes it
}

// A Template holds the metadata and spec that all dependents of a resource share.
type Template struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Spec        map[string]any    `json:"spec,omitempty"`
}

// Object returns a composite made from the template. Fields of spec win over
// those of the template. Neither is changed.
func (t Template) Object(kind, name string, spec map[string]any) Object {
	o := Object{APIVersion: compositeAPI, Kind: kind, Name: name, Labels: t.Labels, Annotations: t.Annotations, Spec: map[string]any{}}
	for k, v := range t.Spec {
		o.Spec[k] = v
	}
	for k, v := range spec {
		o.Spec[k] = v
	}
	return o
}

// Existing holds the objects of the dependents' kind in the namespace of a
// managed resource.
type Existing struct {
	Own    []map[string]any // owned by the resource
	Others []map[string]any // with another owner or none
	// Beside are the objects of the kind Dependents.Beside in the namespace.
	Beside []map[string]any
}

// Dependents describes the objects that depend on managed resources of one kind.
// Its functions are pure.
type Dependents[S, O any] struct {
	// Kind of the dependents, which never changes for a resource.
	Kind func(spec S) string
	// Beside is another kind whose objects Note needs. Empty: none.
	Beside string
	// Enabled reports whether a resource has dependents.
	Enabled func(spec S) bool
	// Objects returns all desired dependents.
	Objects func(spec S, status O) []Object
	// Note adds to a spec what it needs to know of the existing objects.
	Note func(spec *S, there Existing)
}
