package nodes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/internal/fault"
)

// labelled is a node whose label tier was given by field managers.
func labelled(value string, managers ...metav1.ManagedFieldsEntry) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "7", Labels: map[string]string{"gpu": "1", "tier": value}}}
	for _, m := range managers {
		m.FieldsV1 = &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{"f:tier":{}}}}`)}
		n.ManagedFields = append(n.ManagedFields, m)
	}
	return n
}

func rule(owner string, priority int32, value string) Spec {
	return Spec{Owner: owner, Priority: priority, Labels: map[string]string{"tier": value}, MatchExpressions: []Expression{{"gpu", Exists, nil}}}
}

func by(s Spec) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: s.manager(), Operation: metav1.ManagedFieldsOperationApply}
}

// TestRulesAgreeByPriority has two rules that give one label different values: the
// older system's result depended on the order of its calls.
func TestRulesAgreeByPriority(t *testing.T) {
	mine := rule("mine", 5, "fast")
	foreign := metav1.ManagedFieldsEntry{Manager: "kubectl-label", Operation: metav1.ManagedFieldsOperationUpdate}
	posing := metav1.ManagedFieldsEntry{Manager: rule("other", 1, "").manager(), Operation: metav1.ManagedFieldsOperationUpdate}
	cases := map[string]struct {
		owners []metav1.ManagedFieldsEntry
		wins   bool
	}{
		"Lower":          {[]metav1.ManagedFieldsEntry{by(rule("other", 4, "slow"))}, true},
		"LowerDefault":   {[]metav1.ManagedFieldsEntry{by(rule("other", 0, "slow"))}, true},
		"Negative":       {[]metav1.ManagedFieldsEntry{by(rule("other", -9, "slow"))}, true},
		"Equal":          {[]metav1.ManagedFieldsEntry{by(rule("other", 5, "slow"))}, false},
		"Higher":         {[]metav1.ManagedFieldsEntry{by(rule("other", 50, "slow"))}, false},
		"LowerAndHigher": {[]metav1.ManagedFieldsEntry{by(rule("a", 1, "slow")), by(rule("b", 6, "slow"))}, false},
		"RuleAndForeign": {[]metav1.ManagedFieldsEntry{by(rule("a", 1, "slow")), foreign}, false},
		"Foreign":        {[]metav1.ManagedFieldsEntry{foreign}, false},
		"Posing":         {[]metav1.ManagedFieldsEntry{posing}, false},
		"Nobody":         {nil, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := mine.plan([]corev1.Node{labelled("slow", c.owners...)})
			won := len(p.changes) == 1 && p.changes[0].force && p.changes[0].labels["tier"] == "fast"
			if won != c.wins || len(p.status.Conflicts) == 0 != c.wins || !c.wins && len(p.changes) > 0 {
				t.Errorf("the plan is %+v, wins %t", p, c.wins)
			}
		})
	}
}

// TestChangedPriorityReplacesTheFieldManager releases the labels under the name of
// the former priority, so that deleting the rule removes them.
func TestChangedPriorityReplacesTheFieldManager(t *testing.T) {
	before, now := rule("mine", 0, "fast"), rule("mine", -3, "fast")
	p := now.plan([]corev1.Node{labelled("fast", by(before))})
	if len(p.changes) != 1 || p.changes[0].force || !cmp.Equal(p.changes[0].former, []string{before.manager()}) || !cmp.Equal(p.changes[0].labels, now.Labels) {
		t.Fatalf("the plan is %+v", p)
	}
	now.Ending = true
	p = now.plan([]corev1.Node{labelled("fast", by(before))})
	if len(p.changes) != 1 || len(p.changes[0].labels) != 0 || len(p.changes[0].former) != 1 || p.owned != 1 {
		t.Errorf("the end is %+v", p)
	}
}

// TestLabelsWithSeveralOwners has rules that change the value of a label which they own
// together with others. The API server refuses that without force, and all other labels
// of the node with it; force must not change what others than lower rules own.
func TestLabelsWithSeveralOwners(t *testing.T) {
	mine := rule("mine", 10, "b")
	before, lower, higher := rule("mine", 0, "a"), rule("other", 0, "a"), rule("other", 50, "a")
	admin := metav1.ManagedFieldsEntry{Manager: "kubectl-label", Operation: metav1.ManagedFieldsOperationUpdate}
	both := mine
	both.Labels = map[string]string{"tier": "b", "pool": "p"}
	cases := map[string]struct {
		rule     Spec
		owners   []metav1.ManagedFieldsEntry
		want     map[string]string
		force    bool
		conflict bool
	}{
		"Own":            {mine, []metav1.ManagedFieldsEntry{by(mine)}, mine.Labels, false, false},
		"WithLower":      {mine, []metav1.ManagedFieldsEntry{by(mine), by(lower)}, mine.Labels, true, false},
		"WithHigher":     {mine, []metav1.ManagedFieldsEntry{by(mine), by(higher)}, map[string]string{}, false, true},
		"WithAdmin":      {mine, []metav1.ManagedFieldsEntry{by(mine), admin}, map[string]string{}, false, true},
		"OthersArrive":   {both, []metav1.ManagedFieldsEntry{by(mine), admin}, map[string]string{"pool": "p"}, false, true},
		"Former":         {mine, []metav1.ManagedFieldsEntry{by(before)}, mine.Labels, true, false},
		"FormerAndAdmin": {mine, []metav1.ManagedFieldsEntry{by(before), admin}, map[string]string{}, false, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := c.rule.plan([]corev1.Node{labelled("a", c.owners...)})
			if len(p.changes) != 1 || !cmp.Equal(p.changes[0].labels, c.want) || p.changes[0].force != c.force || len(p.status.Conflicts) > 0 != c.conflict {
				t.Errorf("the plan is %+v, want a change to %v with force %t", p, c.want, c.force)
			}
		})
	}
}

// TestForceChangesNoLabelOfAnAdmin has a rule that overrules another in one label, and
// owns a second one together with an admin.
func TestForceChangesNoLabelOfAnAdmin(t *testing.T) {
	mine, lower := rule("mine", 10, "fast"), rule("other", 0, "slow")
	mine.Labels["pool"] = "new"
	n := labelled("slow", by(lower))
	n.Labels["pool"] = "old"
	for _, m := range []metav1.ManagedFieldsEntry{by(mine), {Manager: "kubectl-label", Operation: metav1.ManagedFieldsOperationUpdate}} {
		m.FieldsV1 = &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{"f:pool":{}}}}`)}
		n.ManagedFields = append(n.ManagedFields, m)
	}
	p := mine.plan([]corev1.Node{n})
	if len(p.changes) != 1 || !p.changes[0].force || !cmp.Equal(p.changes[0].labels, map[string]string{"tier": "fast"}) || len(p.status.Conflicts) != 1 {
		t.Errorf("the plan is %+v", p)
	}
}

// TestRulesSeeLabelsThatOthersGaveToo has a rule that gives the label which it matches:
// it must go on matching while an admin owns the label, too, and no longer.
func TestRulesSeeLabelsThatOthersGaveToo(t *testing.T) {
	mine := Spec{Owner: "mine", MatchLabels: map[string]string{"tier": "a"}, Labels: map[string]string{"tier": "a"}}
	admin := metav1.ManagedFieldsEntry{Manager: "kubectl-label", Operation: metav1.ManagedFieldsOperationUpdate}
	if p := mine.plan([]corev1.Node{labelled("a", by(mine), admin)}); len(p.changes) > 0 || p.status.Labelled != 1 {
		t.Errorf("with an admin, the plan is %+v", p)
	}
	if p := mine.plan([]corev1.Node{labelled("a", by(mine))}); len(p.changes) != 1 || len(p.changes[0].labels) > 0 {
		t.Errorf("alone, the plan is %+v", p)
	}
}

func TestCriteriaOfHardware(t *testing.T) {
	n := &corev1.Node{}
	n.Status.Capacity = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("2"), "memory": resource.MustParse("64Gi")}
	n.Status.NodeInfo = corev1.NodeSystemInfo{Architecture: "arm64", KernelVersion: "6.8.1", ContainerRuntimeVersion: "containerd://2.1.0"}
	quantities := func(name, value string) map[string]resource.Quantity {
		return map[string]resource.Quantity{name: resource.MustParse(value)}
	}
	cases := map[string]struct {
		rule    Spec
		matches bool
	}{
		"AnyNode":        {Spec{}, true},
		"Label":          {Spec{MatchLabels: map[string]string{"zone": "a"}}, true},
		"OtherLabel":     {Spec{MatchLabels: map[string]string{"zone": "b"}}, false},
		"MissingLabel":   {Spec{MatchLabels: map[string]string{"rack": ""}}, false},
		"Same":           {Spec{Capacity: quantities("nvidia.com/gpu", "2")}, true},
		"OtherUnit":      {Spec{Capacity: quantities("memory", "60000Mi")}, true},
		"TooMuch":        {Spec{Capacity: quantities("memory", "65Gi")}, false},
		"NoneOfIt":       {Spec{Capacity: quantities("amd.com/gpu", "0")}, false},
		"Info":           {Spec{NodeInfo: map[string]string{"architecture": "arm64"}}, true},
		"Pattern":        {Spec{NodeInfo: map[string]string{"kernelVersion": "6.*"}}, true},
		"OtherInfo":      {Spec{NodeInfo: map[string]string{"architecture": "amd64"}}, false},
		"PatternOfPart":  {Spec{NodeInfo: map[string]string{"kernelVersion": "8.*"}}, false},
		"PatternOfSlash": {Spec{NodeInfo: map[string]string{"containerRuntimeVersion": "containerd://2.*"}}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.rule.matches(n, map[string]string{"zone": "a"}); got != c.matches {
				t.Errorf("matches: %t, want %t", got, c.matches)
			}
		})
	}
	for _, info := range []map[string]string{{"machineID": "x"}, {"osImage": "[a"}} {
		s := Spec{Owner: "rule", Labels: map[string]string{"a": "b"}, NodeInfo: info}
		if err := s.check(); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v: %v, want Invalid", info, err)
		}
	}
}

// TestHeartbeatsChangeNothing compares what a kubelet writes every few seconds.
func TestHeartbeatsChangeNothing(t *testing.T) {
	before := &corev1.Node{}
	before.Labels = map[string]string{"a": "b"}
	before.Status.Capacity = corev1.ResourceList{"memory": resource.MustParse("1Gi")}
	after := before.DeepCopy()
	after.ResourceVersion = "9"
	after.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, LastHeartbeatTime: metav1.Now()}}
	after.Status.Capacity["memory"] = resource.MustParse("1024Mi")
	if !alike(before, after) {
		t.Error("a heartbeat is a change")
	}
	for name, change := range map[string]func(n *corev1.Node){
		"label":    func(n *corev1.Node) { n.Labels["a"] = "c" },
		"capacity": func(n *corev1.Node) { n.Status.Capacity["nvidia.com/gpu"] = resource.MustParse("1") },
		"info":     func(n *corev1.Node) { n.Status.NodeInfo.KernelVersion = "7" },
	} {
		changed := before.DeepCopy()
		change(changed)
		if alike(before, changed) {
			t.Errorf("a change of %s is none", name)
		}
	}
}
