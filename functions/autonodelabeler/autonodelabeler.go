// Package autonodelabeler composes an AutoNodeLabeler: the managed resource that
// labels nodes. It composes no Node, so that nothing deletes one.
package autonodelabeler

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// resRule is the name of the composed resource.
const resRule = "rule"

// Compose answers one call for an AutoNodeLabeler.
func Compose(c *compose.Call) error {
	var l v1.AutoNodeLabeler
	if err := c.ClusterComposite(&l); err != nil {
		return err
	}
	var seen v1alpha1.NodeLabelRule
	c.Observed(resRule, &seen)
	status := v1.AutoNodeLabelerStatus{Status: v1.Status{ObservedGeneration: l.Generation}, NodeLabelRuleObservation: seen.Status.AtProvider}
	ready, trouble := managed.Ready(c, resRule)
	if err := c.Desire(resRule, rule(l), ready); err != nil {
		return err
	}
	p := compose.Plan{Call: c}
	switch {
	case trouble != "":
		p.Fail(reason.RuleFailed, "NodeLabelRule %q cannot label the nodes: %s", names.Object(l.Name, "nodes"), trouble)
	case !bool(ready):
		p.Fail(reason.Labelling, "NodeLabelRule %q has not compared the nodes yet", names.Object(l.Name, "nodes"))
	case len(status.Conflicts) > 0:
		p.Serve(reason.LabelsConflict, "%d of %d matching nodes have all labels; others keep values of another owner or of a rule with at least the same priority: see status.conflicts", status.Labelled, status.Matched)
	default:
		p.Serve(reason.Available, "%d of %d matching nodes have all labels", status.Labelled, status.Matched)
	}
	return c.Finish(&status)
}

// rule is the managed resource of an AutoNodeLabeler. Its name has a suffix, so that
// rules that were created by hand keep theirs.
func rule(l v1.AutoNodeLabeler) *v1alpha1.NodeLabelRule {
	out := &v1alpha1.NodeLabelRule{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindNodeLabelRule},
		ObjectMeta: metav1.ObjectMeta{Name: names.Object(l.Name, "nodes")},
		Spec:       v1alpha1.NodeLabelRuleSpec{ManagedResourceSpec: managed.Spec(nil), ForProvider: l.Spec.NodeLabelRuleParameters},
	}
	if e := l.Spec.MatchExpression; e != nil {
		out.Spec.ForProvider.MatchExpressions = []v1alpha1.NodeLabelExpression{*e}
	}
	return out
}
