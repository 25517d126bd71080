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
	const meta = "metadata: {name: a, namespace: ns, generation: 5, resourceVersion: '7'}\n"
	cases := map[string]struct {
		composite      string
		reason         reason.Reason // of Serving; Available is true
		generation     float64       // 0: not sent
		podReady       compose.Readiness
		compositeReady fnv1.Ready
		version        string
	}{
		"Waits":     {meta, reason.WorkersStarting, 5, compose.Ready, fnv1.Ready_READY_FALSE, "7"},
		"Ready":     {meta, reason.Available, 5, compose.Ready, fnv1.Ready_READY_TRUE, "7"},
		"PodWaits":  {meta, reason.Available, 5, compose.NotReady, fnv1.Ready_READY_FALSE, "7"},
		"OfClaim":   {"metadata: {name: a-1, generation: 5, resourceVersion: '8'}\n", reason.WorkersStarting, 0, compose.Ready, fnv1.Ready_READY_FALSE, "8"},
		"NotStored": {"metadata: {name: a, namespace: ns, generation: 5}\n", reason.Available, 5, compose.Ready, fnv1.Ready_READY_TRUE, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			k, rsp := call(t, c.composite+"status: {replicas: 1, conditions: [{type: A, status: 'True'}]}", nil)
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
			fields := sent.GetResource().GetFields()
			status := fields["status"].GetStructValue().GetFields()
			if got := status["observedGeneration"].GetNumberValue(); got != c.generation {
				t.Errorf("the generation is %v, want %v", got, c.generation)
			}
			if got := status["replicas"].GetNumberValue(); got != 2 {
				t.Errorf("replicas are %v, want 2", got)
			}
			if status["conditions"] != nil || fields["kind"].GetStringValue() != "Worker" {
				t.Errorf("sent is %v", sent)
			}
			if got := fields["metadata"].GetStructValue().GetFields()["resourceVersion"].GetStringValue(); got != c.version {
				t.Errorf("the version is %q, want %q", got, c.version)
			}
			if sent.GetReady() != c.compositeReady {
				t.Errorf("ready is %v, want %v", sent.GetReady(), c.compositeReady)
			}
		})
	}
}

func TestFinishRefuses(t *testing.T) {
	k, _ := call(t, "metadata: {name: a, namespace: ns}", nil)
	if err := k.Finish(&struct{ C chan int }{make(chan int)}); err == nil {
		t.Error("a status with a channel is sent")
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
