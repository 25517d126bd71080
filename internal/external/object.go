package external

// Objects that managed resources make are composites of this group.
const compositeAPI = "koldun.gorizond.io/v1"

// An Object is one in Kubernetes that a managed resource makes: in its own
// namespace, belonging to it, and gone with it. What nobody says of it is left
// to others.
type Object struct {
	APIVersion  string
	Kind        string
	Name        string
	Labels      map[string]string
	Annotations map[string]string
	Spec        map[string]any // as JSON decodes it
}

// A Template is what objects are made of.
type Template struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Spec        map[string]any    `json:"spec,omitempty"`
}

// Object is a composite by the template. spec is added to the template's and
// wins. Neither is changed.
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

// Relatives are the objects of the kind that a managed resource makes which
// are there, in its namespace.
type Relatives struct {
	// Own were made by the resource, others by anybody else.
	Own, Others []map[string]any
}

// A Parent is what there is to know of a kind of managed resource that makes
// objects. Its functions are pure.
type Parent[S, O any] struct {
	// Kind of what is made.
	Kind string
	// Makes reports whether a resource makes anything.
	Makes func(spec S) bool
	// Objects are all that there should be.
	Objects func(spec S, status O) []Object
	// Regard adds to a spec what is to be known of objects that are there.
	Regard func(spec *S, there Relatives)
}
