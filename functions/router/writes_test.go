package router_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
)

// A life is a composite as Crossplane keeps it, and how often it was written.
type life struct {
	t          *testing.T
	composite  *structpb.Struct
	resources  map[string]*fnv1.Resource
	references string
	conditions string
	status     *structpb.Value
	writes     int
}

// reconcile composes once with what is observed, and counts what Crossplane
// writes of the composite: its references, its status and its conditions.
func (l *life) reconcile(observed state) {
	l.t.Helper()
	for name, manifest := range observed {
		for key := range l.resources {
			if key == name || hashed.ReplaceAllString(key, "") == name {
				l.resources[key] = object(l.t, manifest)
			}
		}
	}
	rsp, err := router.New(compose.Config{Image: "koldun"}).RunFunction(l.t.Context(), &fnv1.RunFunctionRequest{
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: l.composite}, Resources: l.resources},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	var names, told []string
	composed := map[string]*fnv1.Resource{}
	for name, r := range rsp.GetDesired().GetResources() {
		names = append(names, name)
		if composed[name] = l.resources[name]; composed[name] == nil {
			composed[name] = r
		}
	}
	for _, c := range rsp.GetConditions() {
		told = append(told, fmt.Sprint(c.GetType(), c.GetStatus(), c.GetReason(), c.GetMessage()))
	}
	slices.Sort(names)
	slices.Sort(told)
	status := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"]
	references, conditions := strings.Join(names, " "), strings.Join(told, "\n")
	if references != l.references {
		l.writes += 3 // and the generation in two kinds of conditions, one reconcile apart
	} else if conditions != l.conditions {
		l.writes++
	}
	if !proto.Equal(status, l.status) {
		l.writes++
	}
	l.references, l.conditions, l.status, l.resources = references, conditions, status, composed
	l.composite.Fields["status"] = status
}

// TestModelIsWrittenRarely counts the writes of a Model from its beginning to
// when it is ready. Crossplane lets a composite have 50 at once, and what it
// composes takes its share.
func TestModelIsWrittenRarely(t *testing.T) {
	whole := "status: {atProvider: {whole: true, weights: q40}, conditions: [{type: Ready, status: 'True'}]}"
	pending := "status: {conditions: [{type: Synced, status: 'True'}, {type: Ready, status: 'False', reason: Creating}]}"
	l := &life{t: t, composite: object(t, model+tiny).GetResource(), resources: map[string]*fnv1.Resource{}}
	for _, observed := range []state{
		{}, {"queue": pending}, {"bucket": pending}, {"revision": "status: {atProvider: {commit: '" + commit + "'}, conditions: [{type: Ready, status: 'True'}]}"},
		{"queue": ready}, {"bucket": ready}, {}, {"source": looked}, {"converted": looked}, {},
		{"fetch": "status: {active: 1}"}, {"fetch": "status: {succeeded: 1}"}, {"source": whole}, {},
		{"convert": "status: {active: 1}"}, {"convert": "status: {succeeded: 1}"}, {"converted": whole}, {},
		{"record": pending}, {"record": ready}, {},
	} {
		l.reconcile(observed)
	}
	if !strings.Contains(l.conditions, "Available") {
		t.Fatalf("the Model is not ready: %s", l.conditions)
	}
	t.Logf("%d writes", l.writes)
	if l.writes > 21 {
		t.Errorf("the Model was written %d times, want 21 at most", l.writes)
	}
	before := l.writes
	if l.reconcile(nil); l.writes != before {
		t.Errorf("a Model that is ready is written again")
	}
}
