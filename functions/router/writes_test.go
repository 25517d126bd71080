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

// A life is a composite as Crossplane stores it, with the number of writes.
type life struct {
	t          *testing.T
	composite  *structpb.Struct
	resources  map[string]*fnv1.Resource
	generation int
	references string
	conditions string // ours, and Synced and Ready with their generation
	responsive int    // generation of the condition that Crossplane writes with the status
	writes     int
}

// reconcile composes with the observed resources, and repeats that while
// Crossplane's own writes of references cause another reconcile. It counts
// Crossplane's writes to the composite: references, status and conditions.
func (l *life) reconcile(observed state) {
	l.t.Helper()
	for l.once(observed) {
		observed = nil
	}
}

func (l *life) once(observed state) (again bool) {
	l.t.Helper()
	for name, manifest := range observed {
		for key := range l.resources {
			if key == name || hashed.ReplaceAllString(key, "") == name {
				l.resources[key] = object(l.t, manifest)
			}
		}
	}
	read := l.generation
	rsp, err := router.New(compose.Config{Image: "koldun"}).RunFunction(l.t.Context(), &fnv1.RunFunctionRequest{
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: l.composite}, Resources: l.resources},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	var refs, told []string
	composed := map[string]*fnv1.Resource{}
	for name, r := range rsp.GetDesired().GetResources() {
		fields := r.GetResource().GetFields()
		refs = append(refs, fmt.Sprintf("{apiVersion: %s, kind: %s, name: %s}", fields["apiVersion"].GetStringValue(), fields["kind"].GetStringValue(),
			fields["metadata"].GetStructValue().GetFields()["name"].GetStringValue()))
		if composed[name] = l.resources[name]; composed[name] == nil {
			composed[name] = r
		}
	}
	for _, c := range rsp.GetConditions() {
		told = append(told, fmt.Sprint(c.GetType(), c.GetStatus(), c.GetReason(), c.GetMessage()))
	}
	slices.Sort(refs)
	slices.Sort(told)
	if references := strings.Join(refs, ", "); references != l.references {
		l.references, again = references, true
		l.generation++
		l.writes++
	}
	status := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"]
	if read != l.responsive || !proto.Equal(status, l.composite.GetFields()["status"]) {
		l.responsive = read
		l.writes++
	}
	if conditions := fmt.Sprint(told, l.generation); conditions != l.conditions {
		l.conditions = conditions
		l.writes++
	}
	l.resources = composed
	l.composite.Fields["status"] = status
	l.composite.Fields["metadata"].GetStructValue().Fields["generation"] = structpb.NewNumberValue(float64(l.generation))
	l.composite.Fields["spec"].GetStructValue().Fields["crossplane"] = structpb.NewStructValue(object(l.t, "resourceRefs: ["+l.references+"]").GetResource())
	return again
}

// TestModelIsWrittenRarely counts the writes of a Model from its creation until
// it is ready. Crossplane allows a composite a burst of 50, and the composed
// resources use a part of it.
func TestModelIsWrittenRarely(t *testing.T) {
	whole := "status: {atProvider: {whole: true, weights: q40}, conditions: [{type: Ready, status: 'True'}]}"
	pending := "status: {conditions: [{type: Synced, status: 'True'}, {type: Ready, status: 'False', reason: Creating}]}"
	l := &life{t: t, composite: object(t, model+tiny).GetResource(), resources: map[string]*fnv1.Resource{}, generation: 1}
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
	if l.writes > 18 {
		t.Errorf("the Model was written %d times, want 18 at most", l.writes)
	}
	before := l.writes
	if l.reconcile(nil); l.writes != before {
		t.Errorf("a Model that is ready is written again")
	}
}
