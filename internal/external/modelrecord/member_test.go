package modelrecord_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/registry"
)

const tinyKey = "model/ns/tiny"

func memberSpec(group string, weight int) modelrecord.Spec {
	return modelrecord.Spec{Namespace: "ns", Name: "tiny", Group: group, Weight: &weight}
}

func entry(t *testing.T, models *registry.Table[registry.Model]) (registry.Model, bool) {
	t.Helper()
	r, err := models.Get(t.Context(), tinyKey)
	if err != nil && !fault.Is(err, fault.NotFound) {
		t.Fatal(err)
	}
	return r.Value, err == nil
}

func wantReady(t *testing.T, c *modelrecord.Client, s modelrecord.Spec, exists, ready bool) {
	t.Helper()
	o, err := c.Observe(t.Context(), s)
	if err != nil || o.Exists != exists || o.Ready != ready || o.UpToDate != ready {
		t.Errorf("Observe(%+v) = %+v, %v; want exists %t, ready %t", s, o, err, exists, ready)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Model and members come and go in any order, and none of them changes another.
func TestLifeOfMembers(t *testing.T) {
	ctx := t.Context()
	models, c := world(t, nil)
	model := modelrecord.Spec{Namespace: "ns", Name: "tiny", SizeBytes: 7, Weights: "q40"}
	stable, canary := memberSpec("stable", 90), memberSpec("canary", 10)

	wantReady(t, c, canary, false, false)
	must(t, c.Create(ctx, canary))
	wantReady(t, c, canary, true, true)
	wantReady(t, c, model, false, false) // an alias is no model
	must(t, c.Create(ctx, model))
	must(t, c.Create(ctx, stable))
	wantReady(t, c, model, true, true)
	if m, _ := entry(t, models); m.Alias || m.Size != 7 || len(m.Members.Members) != 2 {
		t.Errorf("the entry of a model with members: %+v", m)
	}

	canary = memberSpec("canary", 0)
	canary.Fallback = true
	wantReady(t, c, canary, true, false)
	must(t, c.Update(ctx, canary))
	wantReady(t, c, canary, true, true)
	m, _ := entry(t, models)
	if diff := cmp.Diff(map[string]queue.Member{"stable": {Weight: 90}, "canary": {Fallback: true}}, m.Members.Members); diff != "" {
		t.Error(diff)
	}

	must(t, c.Delete(ctx, model))
	wantReady(t, c, model, false, false)
	wantReady(t, c, stable, true, true)
	if m, ok := entry(t, models); !ok || !m.Alias || m.Size != 0 {
		t.Errorf("the entry after its model was deleted: %+v, %t", m, ok)
	}
	for range 2 {
		must(t, c.Delete(ctx, stable))
	}
	wantReady(t, c, canary, true, true)
	must(t, c.Delete(ctx, canary))
	if m, ok := entry(t, models); ok {
		t.Errorf("an entry without model and members is left: %+v", m)
	}
	must(t, c.Delete(ctx, canary))
}

// The last member leaves the entry of a model in place.
func TestModelOutlivesItsMembers(t *testing.T) {
	ctx := t.Context()
	_, c := world(t, nil)
	model := modelrecord.Spec{Namespace: "ns", Name: "tiny", SizeBytes: 7}
	must(t, c.Create(ctx, model))
	must(t, c.Create(ctx, memberSpec("canary", 10)))
	must(t, c.Delete(ctx, memberSpec("canary", 10)))
	wantReady(t, c, model, true, true)
}

func TestMemberDefaults(t *testing.T) {
	ctx := t.Context()
	models, c := world(t, nil)
	spec := modelrecord.Spec{Namespace: "ns", Name: "tiny", Group: "a"}
	must(t, c.Create(ctx, spec))
	if m, _ := entry(t, models); m.Members.Members["a"] != (queue.Member{Weight: 100}) {
		t.Errorf("a member without a weight: %+v", m)
	}
	got, err := c.View(ctx, modelrecord.Spec{Namespace: "ns", Name: "tiny", Group: "a"}, external.AllFields)
	if err != nil || got.Group != "a" || got.Weight == nil || *got.Weight != 100 {
		t.Errorf("View = %+v, %v", got, err)
	}
	if _, err := c.View(ctx, modelrecord.Spec{Namespace: "ns", Name: "tiny", Group: "b"}, external.AllFields); !fault.Is(err, fault.NotFound) {
		t.Errorf("View of another member: %v, want NotFound", err)
	}
}

// Controllers of several claims change the same entry at the same time.
func TestMembersOfOneEntryConcurrently(t *testing.T) {
	models, c := world(t, nil)
	const n = 8
	each := func(f func(ctx context.Context, s modelrecord.Spec) error) {
		var tasks sync.WaitGroup
		for i := range n {
			tasks.Go(func() {
				if err := f(t.Context(), memberSpec(fmt.Sprint("g", i), i)); err != nil {
					t.Error(err)
				}
			})
		}
		tasks.Wait()
	}
	each(c.Create)
	if m, _ := entry(t, models); len(m.Members.Members) != n {
		t.Errorf("%d of %d members are left: %+v", len(m.Members.Members), n, m)
	}
	each(c.Delete)
	if m, ok := entry(t, models); ok {
		t.Errorf("the entry is left: %+v", m)
	}
}

// An unreadable entry is overwritten for a member that is, and deleted for one that
// goes.
func TestMemberOfAnUnreadableEntry(t *testing.T) {
	ctx := t.Context()
	for name, raw := range map[string]string{
		"NoJSON": "{", "OfAnother": `{"namespace":"other","name":"x","members":{"canary":{"weight":10}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := natstest.Start(t).Connect(t)
			models := registry.Models(b)
			c := modelrecord.New(nil, models)
			canary := memberSpec("canary", 10)
			spoil := func() {
				_, err := b.PutBytes(ctx, names.ModelsBucket, tinyKey, []byte(raw), 0)
				must(t, err)
			}
			spoil()
			wantReady(t, c, canary, true, false)
			must(t, c.Update(ctx, canary))
			wantReady(t, c, canary, true, true)
			spoil()
			must(t, c.Delete(ctx, canary))
			if m, ok := entry(t, models); ok {
				t.Errorf("the entry is left: %+v", m)
			}
		})
	}
}
