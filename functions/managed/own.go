package managed

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
)

// An Own is a composite that another one has for itself. A Part creates it, so that its
// progress is no event of the other one.
type Own struct {
	// Res is the name of the composed resource if the composite is composed directly,
	// and Part that of its Part otherwise.
	Res, Part string
	// Name of the Part.
	Name string
}

// direct reports whether the composite is composed directly: where there is no limit of
// events, and if an earlier version composed it so, because composing it in another way
// would delete it.
func (o Own) direct(c *compose.Call) bool { return c.Processes || c.Exists(o.Res) }

// Observe decodes the composite. found says that it is composed, and trouble why it
// cannot be created or changed.
func (o Own) Observe(c *compose.Call, into any) (found bool, trouble string) {
	if o.direct(c) {
		return c.Observed(o.Res, into), ""
	}
	return ObservePart(c, o.Part, into)
}

// Compose composes the composite. spec is what of its spec a Part's template has.
func (o Own) Compose(c *compose.Call, want interface {
	runtime.Object
	metav1.Object
}, spec any,
) error {
	if o.direct(c) {
		return c.Desire(o.Res, want, compose.Readiness(c.Condition(o.Res, v1.ConditionServing).Status == metav1.ConditionTrue))
	}
	return Part{
		Namespace: want.GetNamespace(), Kind: want.GetObjectKind().GroupVersionKind().Kind, Name: want.GetName(),
		Annotations: want.GetAnnotations(), Spec: spec,
	}.Compose(c, o.Part, o.Name)
}
