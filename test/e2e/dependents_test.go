package e2e_test

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/demand"
	"github.com/gorizond/koldun/internal/external/part"
	"github.com/gorizond/koldun/internal/external/pool"
	"github.com/gorizond/koldun/internal/external/pool/autoscaler"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/provider/dependents"
	"github.com/gorizond/koldun/provider/requeue"
	"github.com/gorizond/koldun/test/waittest"
)

// An applier applies the objects of Demands, Parts and Pools with the provider's code.
type applier struct{ applier *dependents.Applier }

func newApplier(t *testing.T, cfg *rest.Config) *applier {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	known, err := cache.New(cfg, cache.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- known.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := waittest.Receive(t, "the cache ends", ended); err != nil {
			t.Error(err)
		}
	})
	n := &applier{applier: dependents.New(c, requeue.NewTracker())}
	for _, kind := range dependents.Kinds() {
		if err := n.applier.Watch(ctx, known, kind); err != nil {
			t.Fatal(err)
		}
	}
	known.WaitForCacheSync(ctx)
	return n
}

// demand applies the Sessions of a Demand.
func (a *applier) demand(o *unstructured.Unstructured, status demand.Status) (why string) {
	_, why = apply(a, o, &v1alpha1.Demand{}, demand.Sessions(), func(demand.Spec) demand.Status { return status })
	return why
}

// pool applies the Dllamas of a Pool with this number of members.
func (a *applier) pool(o *unstructured.Unstructured, members int) (status pool.Status, why string) {
	return apply(a, o, &v1alpha1.Pool{}, pool.Dllamas(), func(s pool.Spec) (out pool.Status) {
		_, session, _ := strings.Cut(s.Owner, "/")
		for i := range members {
			name := strconv.Itoa(i)
			said := s.DllamaStates[names.Member(session, name)]
			out.Members = append(out.Members, pool.Member{Name: name, Phase: autoscaler.Active, Ready: said.Ready, ReadyWorkers: said.ReadyWorkers})
		}
		return out
	})
}

// part applies the Model or Ingress of a Part.
func (a *applier) part(o *unstructured.Unstructured) (status part.Status, why string) {
	status, why = apply(a, o, &v1alpha1.Part{}, part.Composites(), func(s part.Spec) part.Status {
		seen, _ := part.Client{}.Observe(context.Background(), s) // it asks no server
		return seen.Status
	})
	if why == "" && !status.Serving {
		why = cmp.Or(status.Message, "it does not serve yet")
	}
	return status, why
}

// apply applies the dependents of a managed resource, and returns its status, or why it
// is not ready.
func apply[S, O any](a *applier, o *unstructured.Unstructured, m resource.Managed, p external.Dependents[S, O], show func(S) O) (status O, why string) {
	fail := func(err error) (O, string) { return status, err.Error() }
	var s S
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, m); err != nil {
		return fail(err)
	}
	parameters, _, _ := unstructured.NestedMap(o.Object, "spec", "forProvider")
	raw, err := json.Marshal(parameters)
	if err != nil {
		return fail(err)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return fail(err)
	}
	ctx := context.Background() // the simulated provider passes none
	there, err := a.applier.Existing(ctx, p.Kind(s), p.Beside, m)
	if err != nil {
		return fail(err)
	}
	p.Note(&s, there)
	status = show(s)
	changes, err := a.applier.Plan(m, p.Objects(s, status), there)
	if err != nil {
		return fail(err)
	}
	if err := a.applier.Apply(ctx, changes); err != nil {
		return fail(err)
	}
	return status, ""
}
