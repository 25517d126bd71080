package managed

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
)

// A Part is a Model, Ingress, Session or Dllama that another composite has for itself.
type Part struct {
	// Kind and Name of that composite, which is in the namespace.
	Namespace, Kind, Name string
	Annotations           map[string]string
	Spec                  any
}

// Compose composes the Part under a name of the composite.
//
// Composites are written a dozen times until they are ready, and each write would be
// two of the limited events of the composite above. The Part is written twice or three
// times.
func (p Part) Compose(c *compose.Call, res, name string) error {
	template, err := compose.Template(nil, p.Annotations, p.Spec)
	if err != nil {
		return err
	}
	return c.Desire(res, &v1alpha1.Part{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindPart},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name},
		Spec: v1alpha1.PartSpec{
			ForProvider: v1alpha1.PartParameters{Kind: p.Kind, Name: p.Name, Template: *template, TransientReasons: reason.Transient(p.Kind)},
			ResourceRef: &v1alpha1.CompositeReference{APIVersion: v1.APIVersion, Kind: p.Kind, Name: p.Name, Namespace: p.Namespace},
		},
	}, compose.Readiness(c.Condition(res, "Ready").Status == metav1.ConditionTrue))
}

// ObservePart decodes a composed Part into its composite: annotations and spec
// as they are desired, and of the status what the Part reports, with the condition
// Serving unless its reason is transient. What cannot be decoded stays zero. trouble
// says why the composite cannot be created or changed.
func ObservePart(c *compose.Call, res string, into any) (found bool, trouble string) {
	var seen v1alpha1.Part
	if !c.Observed(res, &seen) {
		return false, ""
	}
	if s := c.Condition(res, "Synced"); s.Status == metav1.ConditionFalse {
		trouble = s.Message
	}
	template, at := seen.Spec.ForProvider.Template, seen.Status.AtProvider
	status := map[string]any{}
	if at.Outputs != nil {
		_ = json.Unmarshal(at.Outputs.Raw, &status)
	}
	if serving := servingOf(at); serving.Type != "" {
		status["conditions"] = []metav1.Condition{serving}
	}
	raw, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"namespace": seen.Namespace, "name": seen.Spec.ForProvider.Name, "annotations": template.Annotations},
		"spec":     template.Spec,
		"status":   status,
	})
	if err == nil {
		_ = json.Unmarshal(raw, into)
	}
	return true, trouble
}

// servingOf returns the reported condition Serving; the zero value if there is none.
func servingOf(at v1alpha1.PartObservation) metav1.Condition {
	switch {
	case at.Serving:
		return metav1.Condition{Type: v1.ConditionServing, Status: metav1.ConditionTrue, Reason: string(reason.Available)}
	case at.Reason != "":
		return metav1.Condition{Type: v1.ConditionServing, Status: metav1.ConditionFalse, Reason: at.Reason, Message: at.Message}
	}
	return metav1.Condition{}
}
