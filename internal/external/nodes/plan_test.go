package nodes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/internal/fault"
)

func TestExpressions(t *testing.T) {
	labels := map[string]string{"gpu": "yes", "memory": "64", "empty": ""}
	cases := map[string]struct {
		expr    Expression
		matches bool
	}{
		"Exists":            {Expression{"gpu", Exists, nil}, true},
		"ExistsEmpty":       {Expression{"empty", Exists, nil}, true},
		"ExistsNot":         {Expression{"tpu", Exists, nil}, false},
		"DoesNotExist":      {Expression{"tpu", DoesNotExist, nil}, true},
		"DoesNotExistThere": {Expression{"gpu", DoesNotExist, nil}, false},
		"In":                {Expression{"gpu", In, []string{"no", "yes"}}, true},
		"InOther":           {Expression{"gpu", In, []string{"no"}}, false},
		"InMissing":         {Expression{"tpu", In, []string{""}}, false},
		"NotIn":             {Expression{"gpu", NotIn, []string{"no"}}, true},
		"NotInSame":         {Expression{"gpu", NotIn, []string{"yes"}}, false},
		"NotInMissing":      {Expression{"tpu", NotIn, []string{"yes"}}, true},
		"Gt":                {Expression{"memory", Gt, []string{"32"}}, true},
		"GtSame":            {Expression{"memory", Gt, []string{"64"}}, false},
		"GtByNumber":        {Expression{"memory", Gt, []string{"7"}}, true},
		"GtNoNumber":        {Expression{"gpu", Gt, []string{"1"}}, false},
		"GtMissing":         {Expression{"tpu", Gt, []string{"-1"}}, false},
		"Lt":                {Expression{"memory", Lt, []string{"65"}}, true},
		"LtMissing":         {Expression{"tpu", Lt, []string{"1"}}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if err := c.expr.check(); err != nil {
				t.Fatal(err)
			}
			if got := c.expr.matches(labels); got != c.matches {
				t.Errorf("matches: %t, want %t", got, c.matches)
			}
		})
	}
}

func TestRulesWithoutSenseAreRefused(t *testing.T) {
	labels := map[string]string{"a": "b"}
	cases := map[string]Spec{
		"NoLabels":   {},
		"Kubernetes": {Labels: map[string]string{"node-role.kubernetes.io/x": ""}},
		"K8s":        {Labels: map[string]string{"k8s.io/x": ""}},
		"NoKey":      {Labels: labels, MatchExpressions: []Expression{{"", Exists, nil}}},
		"NoOperator": {Labels: labels, MatchExpressions: []Expression{{"k", "", nil}}},
		"Operator":   {Labels: labels, MatchExpressions: []Expression{{"k", "Like", nil}}},
		"Values":     {Labels: labels, MatchExpressions: []Expression{{"k", Exists, []string{"v"}}}},
		"NoValues":   {Labels: labels, MatchExpressions: []Expression{{"k", In, nil}}},
		"NoNumber":   {Labels: labels, MatchExpressions: []Expression{{"k", Gt, []string{"much"}}}},
		"TwoNumbers": {Labels: labels, MatchExpressions: []Expression{{"k", Lt, []string{"1", "2"}}}},
	}
	for name, s := range cases {
		t.Run(name, func(t *testing.T) {
			s.Owner = "rule"
			if err := s.check(); !fault.Is(err, fault.Invalid) {
				t.Errorf("check: %v, want Invalid", err)
			}
		})
	}
	if err := (Spec{Owner: "rule", Labels: map[string]string{"notkubernetes.io/x": "", "koldun.gorizond.io/x": ""}}).check(); err != nil {
		t.Errorf("labels without an owner: %v", err)
	}
}

// node has the labels "k=v", of which those marked with an asterisk are the rule's; the
// kubelet owns the others.
func node(name string, s Spec, labels ...string) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	var owned, others []string
	for _, l := range labels {
		key, value, _ := strings.Cut(strings.TrimPrefix(l, "*"), "=")
		n.Labels[key] = value
		if l[0] == '*' {
			owned = append(owned, fmt.Sprintf("%q:{}", "f:"+key))
		} else {
			others = append(others, fmt.Sprintf("%q:{}", "f:"+key))
		}
	}
	fields := func(of []string) *metav1.FieldsV1 {
		return &metav1.FieldsV1{Raw: fmt.Appendf(nil, `{"f:metadata":{"f:labels":{%s}}}`, strings.Join(of, ","))}
	}
	n.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: fields(others)},
		{Manager: s.manager(), Operation: metav1.ManagedFieldsOperationApply, FieldsV1: fields(owned)},
	}
	return n
}

func TestPlan(t *testing.T) {
	rule := Spec{
		Owner: "rule", Labels: map[string]string{"tier": "fast", "pool": "a"},
		MatchExpressions: []Expression{{"gpu", Exists, nil}, {"zone", NotIn, []string{"b"}}},
	}
	self := Spec{Owner: "rule", Labels: map[string]string{"tier": "fast"}, MatchExpressions: []Expression{{"tier", Exists, nil}}}
	ending := rule
	ending.Ending = true
	cases := map[string]struct {
		rule   Spec
		labels []string
		want   map[string]string // nil: no change
		status Status
	}{
		"New":            {rule, []string{"gpu=1"}, map[string]string{"tier": "fast", "pool": "a"}, Status{Matched: 1}},
		"Done":           {rule, []string{"gpu=1", "*tier=fast", "*pool=a"}, nil, Status{Matched: 1, Labelled: 1}},
		"NoMatch":        {rule, []string{"zone=a"}, nil, Status{}},
		"OneOfTwo":       {rule, []string{"gpu=1", "zone=b"}, nil, Status{}},
		"NoMore":         {rule, []string{"zone=a", "*tier=fast", "*pool=a"}, map[string]string{}, Status{}},
		"Drift":          {rule, []string{"gpu=1", "*tier=slow", "*pool=a"}, map[string]string{"tier": "fast", "pool": "a"}, Status{Matched: 1}},
		"Conflict":       {rule, []string{"gpu=1", "tier=slow"}, map[string]string{"pool": "a"}, Status{Matched: 1, Conflicts: []string{"n"}}},
		"ConflictStays":  {rule, []string{"gpu=1", "tier=slow", "*pool=a"}, nil, Status{Matched: 1, Conflicts: []string{"n"}}},
		"SameOfAnother":  {rule, []string{"gpu=1", "tier=fast"}, map[string]string{"tier": "fast", "pool": "a"}, Status{Matched: 1}},
		"LabelDropped":   {rule, []string{"gpu=1", "*tier=fast", "*pool=a", "*old=x"}, map[string]string{"tier": "fast", "pool": "a"}, Status{Matched: 1}},
		"KeepsNotItself": {self, []string{"*tier=fast"}, map[string]string{}, Status{}},
		"Ending":         {ending, []string{"gpu=1", "*tier=fast"}, map[string]string{}, Status{}},
		"Ended":          {ending, []string{"gpu=1", "tier=fast"}, nil, Status{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := c.rule.plan([]corev1.Node{node("n", c.rule, c.labels...)})
			if d := cmp.Diff(c.status, p.status); d != "" {
				t.Error(d)
			}
			switch {
			case c.want == nil && len(p.changes) > 0:
				t.Errorf("a change to %v, want none", p.changes[0].labels)
			case c.want != nil && (len(p.changes) != 1 || !cmp.Equal(p.changes[0].labels, c.want)):
				t.Errorf("changes %v, want one to %v", p.changes, c.want)
			}
		})
	}
}
