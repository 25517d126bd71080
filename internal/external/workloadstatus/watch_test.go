package workloadstatus

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
	"github.com/gorizond/koldun/test/waittest"
)

// While the pods cannot be listed, each other cause is told: the right may be granted
// and the server go away.
func TestLaterErrorsAreTold(t *testing.T) {
	tells := make(chan func(string), 1)
	n := &namespace{name: "ns"}
	n.feed = feed.New(func(ctx context.Context, tell func(string)) {
		tells <- tell
		<-ctx.Done()
	})
	c := New(nil)
	c.namespaces["ns"] = n
	ctx, cancel := context.WithCancel(t.Context())
	changed, ended := make(chan struct{}), make(chan error, 1)
	spec := Spec{Namespace: "ns", Owner: "o"}
	go func() { ended <- c.Watch(ctx, spec, func() { waittest.Send(t, "the change", changed, struct{}{}) }) }()
	tell := waittest.Receive(t, "the source", tells)
	for _, err := range []error{apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no right")), errors.New("no such host")} {
		n.set(nil, err)
		tell(feed.Everyone)
		waittest.Receive(t, "the news of "+err.Error(), changed)
		if o, _ := c.Observe(t.Context(), spec); o.Ready || !strings.Contains(o.Message, err.Error()) {
			t.Errorf("after %v: observed %+v", err, o)
		}
	}
	cancel()
	if err := waittest.Receive(t, "the end", ended); err != nil {
		t.Error(err)
	}
}

// A watch with the selector of before, which ends late, takes nothing from the new one.
func TestEarlierWatchEndsLate(t *testing.T) {
	c, spec := New(nil), Spec{Owner: "o"}
	found, late := diagnose.Diagnosis{Reason: diagnose.Unschedulable}, diagnose.Diagnosis{Reason: diagnose.OutOfMemory}
	before := c.begin("o")
	now := c.begin("o")
	c.note(now, Status{Diagnosis: found}, nil)
	c.note(before, Status{Diagnosis: late}, nil)
	c.forget("o", before)
	if o, _ := c.Observe(t.Context(), spec); o.Status.Diagnosis != found {
		t.Errorf("observed %+v, want %+v", o.Status, found)
	}
	c.forget("o", now)
	if o, _ := c.Observe(t.Context(), spec); !o.Ready {
		t.Errorf("after the last watch: observed %+v", o)
	}
}
