package memory_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/internal/names"
)

const mebibyte = 1 << 20

// TestFollowsSettings holds that a greater setting gives a container the memory for it.
func TestFollowsSettings(t *testing.T) {
	for name, c := range map[string]struct{ less, more, by int64 }{
		"bodies of a gateway":    {memory.Gateway(64 * mebibyte), memory.Gateway(65 * mebibyte), 3 * mebibyte},
		"queue of a dispatcher":  {memory.Dispatcher(0), memory.Dispatcher(names.RequestMaxBytes + 4*mebibyte), 5 * mebibyte},
		"slots of a sidecar":     {memory.Sidecar(1, false), memory.Sidecar(2, false), 28 * mebibyte},
		"answers of a server":    {memory.Sidecar(1, false), memory.Sidecar(1, true), 128 * mebibyte},
		"connections":            {memory.Fetch(0, 0), memory.Fetch(9, 0), 16 * mebibyte},
		"parts of a download":    {memory.Fetch(4, 8), memory.Fetch(4, 9), 8 * mebibyte},
		"connections for memory": {0, int64(memory.Connections(memory.Fetch(20, 0))), 20},
	} {
		if c.more-c.less != c.by {
			t.Errorf("%s: %d and %d bytes, want %d more", name, c.less, c.more, c.by)
		}
	}
	if memory.Gateway(0) != 0 {
		t.Error("a gateway without a bound of its bodies has a limit of memory")
	}
}

func list(quantity string) corev1.ResourceList {
	if quantity == "" {
		return nil
	}
	return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(quantity)}
}

func TestComplete(t *testing.T) {
	for name, c := range map[string]struct{ requests, limits, wantRequests, wantLimits, goLimit string }{
		"Nothing":       {"", "", "64Mi", "512Mi", "471859KiB"},
		"Limit":         {"", "32Mi", "32Mi", "32Mi", "29491KiB"},
		"GreaterLimit":  {"", "2Gi", "64Mi", "2Gi", "1887436KiB"},
		"Request":       {"128Mi", "", "128Mi", "512Mi", "471859KiB"},
		"LargerRequest": {"1Gi", "", "1Gi", "1Gi", "943718KiB"},
		"Both":          {"1Gi", "2Gi", "1Gi", "2Gi", "1887436KiB"},
	} {
		got := memory.Complete(corev1.ResourceRequirements{Requests: list(c.requests), Limits: list(c.limits)}, 512*mebibyte, memory.Usual)
		want := corev1.ResourceRequirements{Requests: list(c.wantRequests), Limits: list(c.wantLimits)}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: the resources differ (-want +got):\n%s", name, d)
		}
		if limit := memory.GoLimit(got); limit != c.goLimit {
			t.Errorf("%s: GOMEMLIMIT is %s, want %s", name, limit, c.goLimit)
		}
	}
	none := memory.Complete(corev1.ResourceRequirements{}, 0, memory.Usual)
	if none.Limits != nil || none.Requests != nil || memory.GoLimit(none) != "" {
		t.Errorf("without a limit a container has %v, and GOMEMLIMIT %q", none, memory.GoLimit(none))
	}
}
