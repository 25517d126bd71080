package compose_test

import (
	"errors"
	"slices"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
)

// TestFinish sends a status with 2 replicas, of generation 5.
func TestFinish(t *testing.T) {
	const (
		meta     = "metadata: {name: a, namespace: ns, generation: 5}\n"
		exact    = "spec: {crossplane: {resourceRefs: [{apiVersion: v1, kind: Pod, name: x}]}}\n"
		other    = "spec: {crossplane: {resourceRefs: [{apiVersion: v1, kind: Pod, name: y}]}}\n"
		twice    = "spec: {crossplane: {resourceRefs: [{apiVersion: v1, kind: Pod, name: x}, {apiVersion: v1, kind: Pod, name: x}]}}\n"
		none     = "spec: {crossplane: {}}\n"
		ofClaim  = "spec: {resourceRefs: [{apiVersion: v1, kind: Pod, name: y}]}\n"
		before   = "status: {observedGeneration: 4, replicas: 2, readyReplicas: 0, conditions: [{type: A, status: 'True'}]}"
		changed  = "status: {observedGeneration: 4, replicas: 1, readyReplicas: 0}"
		addition = "status: {observedGeneration: 4, replicas: 2, readyReplicas: 0, addresses: [a]}"
	)
	cases := map[string]struct {
		composite      string
		reason         reason.Reason // of Serving; Available is true
		generation     float64       // 0: not sent
		replicas       float64
		podReady       compose.Readiness
		compositeReady fnv1.Ready
	}{
		"First":              {meta, reason.WorkersStarting, 5, 2, compose.Ready, fnv1.Ready_READY_FALSE},
		"Ready":              {meta, reason.Available, 5, 2, compose.Ready, fnv1.Ready_READY_TRUE},
		"PodUnready":         {meta, reason.Available, 5, 2, compose.NotReady, fnv1.Ready_READY_FALSE},
		"ReferencesToCome":   {meta + none, reason.WorkersStarting, 6, 2, compose.Ready, fnv1.Ready_READY_FALSE},
		"ReferencesExact":    {meta + exact, reason.WorkersStarting, 5, 2, compose.Ready, fnv1.Ready_READY_FALSE},
		"GenerationAlone":    {meta + exact + before, reason.WorkersStarting, 4, 2, compose.Ready, fnv1.Ready_READY_FALSE},
		"GenerationAtTheEnd": {meta + exact + before, reason.Available, 5, 2, compose.Ready, fnv1.Ready_READY_TRUE},
		"GenerationFinal":    {meta + exact + before, reason.TopologyInvalid, 5, 2, compose.Ready, fnv1.Ready_READY_FALSE},
		"Changed":            {meta + exact + changed, reason.WorkersStarting, 5, 2, compose.Ready, fnv1.Ready_READY_FALSE},
		"FieldRemoved":       {meta + exact + addition, reason.WorkersStarting, 5, 2, compose.Ready, fnv1.Ready_READY_FALSE},
		"Postponed":          {meta + other + changed, reason.WorkersStarting, 4, 1, compose.Ready, fnv1.Ready_READY_FALSE},
		"PostponedTwice":     {meta + twice + changed, reason.WorkersStarting, 4, 1, compose.Ready, fnv1.Ready_READY_FALSE},
		"NotPostponed":       {meta + other + changed, reason.Available, 6, 2, compose.Ready, fnv1.Ready_READY_TRUE},
		"Claim":              {"metadata: {name: a-1, generation: 5}\n", reason.WorkersStarting, 0, 2, compose.Ready, fnv1.Ready_READY_FALSE},
		"ClaimPostponed":     {"metadata: {name: a-1, generation: 5}\n" + ofClaim + changed, reason.WorkersStarting, 4, 1, compose.Ready, fnv1.Ready_READY_FALSE},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			k, rsp := call(t, c.composite, nil)
			p := compose.Plan{Call: k}
			pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "x"}}
			if err := p.Desire("pod", pod, c.podReady); err != nil {
				t.Fatal(err)
			}
			if c.reason == reason.Available {
				p.Serve(c.reason, "it serves")
			} else {
				p.Fail(c.reason, "it waits")
			}
			if err := p.Finish(&v1.WorkerStatus{Status: v1.Status{ObservedGeneration: 5}, Replicas: 2}); err != nil {
				t.Fatal(err)
			}
			sent := rsp.GetDesired().GetComposite()
			status := sent.GetResource().GetFields()["status"].GetStructValue().GetFields()
			if got := status["observedGeneration"].GetNumberValue(); got != c.generation {
				t.Errorf("the generation is %v, want %v", got, c.generation)
			}
			if got := status["replicas"].GetNumberValue(); got != c.replicas {
				t.Errorf("replicas are %v, want %v", got, c.replicas)
			}
			if status["conditions"] != nil || sent.GetResource().GetFields()["kind"].GetStringValue() != "Worker" {
				t.Errorf("sent is %v", sent)
			}
			if sent.GetReady() != c.compositeReady {
				t.Errorf("ready is %v, want %v", sent.GetReady(), c.compositeReady)
			}
		})
	}
}

// TestExistingNamesCount compares references with the names that exist.
func TestExistingNamesCount(t *testing.T) {
	k, rsp := call(t, "metadata: {name: a, namespace: ns, generation: 5}\nspec: {crossplane: {resourceRefs: [{apiVersion: v1, kind: Pod, name: given}]}}", map[string]string{"pod": "metadata: {name: given}"})
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "wanted"}}
	if err := k.Desire("pod", pod, compose.Ready); err != nil {
		t.Fatal(err)
	}
	if err := k.Finish(&v1.WorkerStatus{Status: v1.Status{ObservedGeneration: 5}}); err != nil {
		t.Fatal(err)
	}
	if got := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()["observedGeneration"].GetNumberValue(); got != 5 {
		t.Errorf("the generation is %v, want 5", got)
	}
}

func TestFinishRefuses(t *testing.T) {
	k, _ := call(t, "metadata: {name: a, namespace: ns}", nil)
	if err := k.Finish(&struct{ C chan int }{make(chan int)}); err == nil {
		t.Error("a status with a channel is sent")
	}
	k, _ = call(t, "metadata: {name: a, namespace: ns}\nspec: {crossplane: {resourceRefs: [{kind: A}]}}\nstatus: {replicas: many}", nil)
	if err := k.Finish(&v1.WorkerStatus{}); err == nil {
		t.Error("a status that cannot be decoded is repeated")
	}
}

func TestPlan(t *testing.T) {
	k, rsp := call(t, "metadata: {name: a, namespace: ns}", nil)
	p := compose.Plan{Call: k}
	var ran []string
	step := func(name string, next compose.Next, err error) compose.Step {
		return func() (compose.Next, error) {
			ran = append(ran, name)
			return next, err
		}
	}
	if err := p.Run(step("a", compose.Continue, nil), step("b", compose.Stop, nil), step("c", compose.Continue, nil)); err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	if err := p.Run(step("d", compose.Continue, broken), step("e", compose.Continue, nil)); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	if !slices.Equal(ran, []string{"a", "b", "d"}) {
		t.Errorf("steps %q ran", ran)
	}
	if p.Failed() {
		t.Error("a plan that stopped has failed")
	}
	p.Fail(reason.ModelPending, "first")
	p.Fail(reason.ModelFailed, "second")
	p.Serve(reason.Available, "third")
	if c := rsp.GetConditions(); !p.Failed() || len(c) != 1 || c[0].GetMessage() != "first" || c[0].GetReason() != "ModelPending" {
		t.Errorf("the conditions are %v", c)
	}
}
