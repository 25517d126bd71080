package local

import (
	"context"
	"fmt"
	"reflect"

	"github.com/gorizond/koldun/internal/fault"
)

// maxIterations limits the calls of a Composer for one composition, as Crossplane
// limits the calls of a function.
const maxIterations = 5

// A Requirement selects objects of a kind by name or by labels. An empty
// namespace means that of the composite.
type Requirement struct {
	APIVersion  string
	Kind        string
	Namespace   string
	Name        string
	MatchLabels map[string]string
}

// Matches reports whether a composite in the namespace requires the object, which may
// be one of the cluster.
func (r Requirement) Matches(namespace string, o Object) bool {
	if r.Namespace != "" {
		namespace = r.Namespace
	}
	k := o.Key()
	if k.APIVersion != r.APIVersion || k.Kind != r.Kind || k.Namespace != namespace && (k.Namespace != "" || r.Namespace != "") {
		return false
	}
	if r.Name != "" {
		return k.Name == r.Name
	}
	labels := o.labels()
	for name, value := range r.MatchLabels {
		if labels[name] != value {
			return false
		}
	}
	return true
}

// An Input is the input of a composition.
type Input struct {
	Composite Object
	// Observed are its existing composed resources, by their names in the
	// composite.
	Observed map[string]Object
	// Requirements of the previous composition save a call of the Composer. They
	// are optional.
	Requirements map[string]Requirement
	// Find returns the existing objects that match a requirement, in a stable
	// order.
	Find func(Requirement) []Object
}

// ComposeUntilStable calls the Composer until its requirements do not change. It
// returns the Composer's error, or Internal if the requirements still change
// after maxIterations calls. With an error the result holds only the last
// Requirements, because a change of the objects that they match may resolve it.
func ComposeUntilStable(ctx context.Context, c Composer, in Input) (Composed, error) {
	requirements := in.Requirements
	for range maxIterations {
		required := make(map[string][]Object, len(requirements))
		for key, r := range requirements {
			required[key] = append([]Object{}, in.Find(r)...) // never nil: an empty slice means that none matches
		}
		composed, err := c.Compose(ctx, in.Composite, in.Observed, required)
		if err != nil {
			return Composed{Requirements: requirements}, fmt.Errorf("cannot compose %s: %w", in.Composite.Key(), err)
		}
		if len(composed.Requirements) == 0 || reflect.DeepEqual(requirements, composed.Requirements) {
			return composed, nil
		}
		requirements = composed.Requirements
	}
	return Composed{Requirements: requirements}, fault.Errorf(fault.Internal, "cannot compose %s: its requirements still change after %d calls", in.Composite.Key(), maxIterations)
}
