package router_test

import (
	"fmt"
	"slices"
	"strconv"
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
	shared     bool   // the conditions as the status was last applied with
	writes     int
}

// reconcile composes with the observed resources, and repeats that while
// Crossplane's own writes cause another reconcile. It counts Crossplane's writes
// to the composite: references, status and conditions.
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
	rsp, err := router.New(compose.Config{Image: "koldun", Trusted: true}).RunFunction(l.t.Context(), &fnv1.RunFunctionRequest{
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
	l.resources = composed
	if references := strings.Join(refs, ", "); references != l.references {
		// The status is of an older version, so the API server refuses it.
		l.references = references
		l.generation++
		l.write("generation", structpb.NewNumberValue(float64(l.generation)))
		return true
	}
	sent := rsp.GetDesired().GetComposite().GetResource().GetFields()
	if got, want := version(sent), version(l.composite.GetFields()); got != want {
		l.t.Fatalf("the status is sent with version %q, want %q", got, want)
	}
	// Crossplane applies the conditions with the status. If it has updated one
	// since, applying takes a write to own the field, too.
	if status := sent["status"]; l.responsive != l.generation || !l.shared || !proto.Equal(status, l.composite.GetFields()["status"]) {
		l.responsive, l.shared, again = l.generation, true, true
		l.composite.Fields["status"] = status
		l.write("", nil)
	}
	if conditions := fmt.Sprint(told, l.generation); conditions != l.conditions {
		l.conditions, l.shared, again = conditions, false, true
		l.write("", nil)
	}
	return again
}

// write counts a write, which may set a field of the metadata.
func (l *life) write(field string, value *structpb.Value) {
	l.writes++
	metadata := l.composite.GetFields()["metadata"].GetStructValue().GetFields()
	metadata["resourceVersion"] = structpb.NewStringValue(strconv.Itoa(l.writes))
	if field != "" {
		metadata[field] = value
	}
}

func version(composite map[string]*structpb.Value) string {
	return composite["metadata"].GetStructValue().GetFields()["resourceVersion"].GetStringValue()
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
	if l.writes > 22 {
		t.Errorf("the Model was written %d times, want 22 at most", l.writes)
	}
	before := l.writes
	if l.reconcile(nil); l.writes != before {
		t.Errorf("a Model that is ready is written again")
	}
}
