package queue_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/queue"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

const ingress = "apiVersion: koldun.gorizond.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: ns}\n"

func TestCompose(t *testing.T) {
	size := func(s string) *resource.Quantity {
		q := resource.MustParse(s)
		return &q
	}
	cases := map[string]struct {
		spec      *v1.BackendQueue
		responses *v1.StoredResponses
		observed  map[string]string
		maxBytes  float64 // 0: it leaves the limit of the shared stream alone
		replicas  float64
		stored    float64 // size of the bucket of responses; 0: there is none
		ready     bool
	}{
		"Default":  {},
		"Empty":    {spec: &v1.BackendQueue{}},
		"Zero":     {spec: &v1.BackendQueue{MaxBytes: size("0")}},
		"Negative": {spec: &v1.BackendQueue{MaxBytes: size("-1")}},
		"Asked":    {spec: &v1.BackendQueue{MaxBytes: size("2Gi"), Replicas: 3}, maxBytes: 2 << 30, replicas: 3},
		"OneByte":  {spec: &v1.BackendQueue{MaxBytes: size("1")}, maxBytes: 1},
		"Stored":   {responses: &v1.StoredResponses{}, stored: names.ResponsesMaxBytes},
		"Little":   {responses: &v1.StoredResponses{MaxBytes: size("8Mi")}, stored: 8 << 20},
		"Prepared": {observed: map[string]string{"queue": composetest.Ready}, ready: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var pending managed.Pending
			rsp := composetest.Run(t, func(call *compose.Call) (err error) {
				pending, err = queue.Queue{Namespace: "ns", Name: "q", Secret: "s", Spec: c.spec, Responses: c.responses}.Compose(call)
				return err
			}, composetest.Case{Composite: ingress, Observed: c.observed})
			if pending.Any() == c.ready {
				t.Errorf("pending is %+v", pending)
			}
			spec := rsp.GetDesired().GetResources()["queue"].GetResource().AsMap()["spec"].(map[string]any)
			provider := spec["forProvider"].(map[string]any)
			for _, s := range provider["streams"].([]any) {
				s := s.(map[string]any)
				if got, named := s["maxBytes"].(float64); s["name"] == names.RequestStream && (got != c.maxBytes || named != (c.maxBytes > 0)) {
					t.Errorf("maxBytes is %v, want %v", s["maxBytes"], c.maxBytes)
				}
				if replicas, _ := s["replicas"].(float64); replicas != c.replicas {
					t.Errorf("replicas are %v, want %v", replicas, c.replicas)
				}
			}
			buckets := provider["keyValues"].([]any)
			if last := buckets[len(buckets)-1].(map[string]any); c.stored > 0 {
				if last["bucket"] != names.ResponsesBucket || last["maxBytes"] != c.stored || last["limitMarkerTTL"] != "1m0s" || last["ttl"] != nil {
					t.Errorf("the bucket of responses is %v", last)
				}
				buckets = buckets[:len(buckets)-1]
			}
			if len(buckets) != len(names.Buckets()) || spec["writeConnectionSecretToRef"].(map[string]any)["name"] != "s" {
				t.Errorf("the queue is %v", spec)
			}
		})
	}
}

func TestDispatcher(t *testing.T) {
	for attempts, want := range map[int32]bool{0: false, 3: false, 2: true, 1: true} {
		pod := queue.Queue{Secret: "s", Spec: &v1.BackendQueue{MaxAttempts: attempts}}.Dispatcher("i", map[string]string{"a": "b"}, workload.Login{})
		c := pod.Containers[0]
		if got := slices.ContainsFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "--max-attempts=") }); got != want {
			t.Errorf("with %d attempts the arguments are %q", attempts, c.Args)
		}
		if c.Args[0] != "dispatcher" || c.Args[1] != "--listen=:$(KOLDUN_PORT_HEALTH)" || c.Args[2] != "--identity=$(POD_NAMESPACE)_$(POD_NAME)" || c.Image != "i" || c.Secrets[0] != "s" ||
			c.ProbePort != "health" || pod.Ports["health"] != 8083 || pod.GraceSeconds != 30 || pod.Labels["a"] != "b" {
			t.Errorf("the pod is %+v", pod)
		}
	}
	if args := (queue.Queue{}).Dispatcher("i", nil, workload.Login{}).Containers[0].Args; len(args) != 3 {
		t.Errorf("the arguments are %q", args)
	}
}

func TestResourcesOf(t *testing.T) {
	if got := queue.ResourcesOf(nil); got.Limits != nil || got.Requests != nil {
		t.Errorf("got %v", got)
	}
	asked := &corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1")}}
	if got := queue.ResourcesOf(asked); len(got.Limits) != 1 {
		t.Errorf("got %v", got)
	}
}
