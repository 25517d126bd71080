package managed

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
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

// lacking says what the cluster lacks for the composite; empty if nothing.
func (o Own) lacking(c *compose.Call) string {
	if o.direct(c) {
		if around := c.Condition(o.Res, v1.ConditionPrerequisites); around.Status == metav1.ConditionFalse {
			return around.Message
		}
		return ""
	}
	var seen v1alpha1.Part
	if c.Observed(o.Part, &seen) && seen.Status.AtProvider.Reason == string(reason.PrerequisiteMissing) {
		return seen.Status.AtProvider.Message
	}
	return ""
}

// Compose composes the composite. What the cluster lacks for it, it lacks for the
// composite above. spec is what of its spec a Part's template has.
func (o Own) Compose(c *compose.Call, want interface {
	runtime.Object
	metav1.Object
}, spec any,
) error {
	c.Lack(o.lacking(c))
	if o.direct(c) {
		return c.Desire(o.Res, want, compose.Readiness(c.Condition(o.Res, v1.ConditionServing).Status == metav1.ConditionTrue))
	}
	return Part{
		Namespace: want.GetNamespace(), Kind: want.GetObjectKind().GroupVersionKind().Kind, Name: want.GetName(),
		Annotations: want.GetAnnotations(), Spec: spec,
	}.Compose(c, o.Part, o.Name)
}
