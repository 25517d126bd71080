package argocd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// waveAnnotation orders the objects of a sync.
const waveAnnotation = "argocd.argoproj.io/sync-wave"

// syncsByWaves tests that each wave begins when the one before is healthy.
func (s *story) syncsByWaves(commit string) {
	began := time.Now()
	s.waitFor("the first sync", func(app *Application) error {
		if app.Status.Operation.Phase != "Succeeded" {
			return errors.New("the sync has not succeeded")
		}
		return nil
	})
	s.setup.Tell("The sync ends after %s: the last wave is applied.", since(began))
	app := s.waitFor("the Application to be healthy", settled(commit))
	s.setup.Tell("Healthy after %s.", since(began))
	waves, err := s.waves(s.t.Context(), app)
	s.must(err)
	var before *wave
	for number := -10; number <= 10; number++ {
		w := waves[number]
		if w == nil {
			continue
		}
		s.setup.Tell("Wave %2d: created from %s, healthy at %s.", number, w.created.Format(time.TimeOnly), w.healthy.Format(time.TimeOnly))
		if before != nil && w.created.Before(before.healthy) {
			s.t.Errorf("wave %d began at %s, but the wave before was healthy only at %s", number, w.created, before.healthy)
		}
		before = w
	}
	if len(waves) < 3 {
		s.t.Errorf("the Application has %d waves, want those of the connections, the Model and the Dllama", len(waves))
	}
}

// A wave has the times of its objects, in whole seconds.
type wave struct {
	created time.Time // of the first
	healthy time.Time // of the last, the first time
}

func (s *story) waves(ctx context.Context, app *Application) (map[int]*wave, error) {
	waves := map[int]*wave{}
	for _, r := range app.Status.Resources {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind})
		if err := s.Client().Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, o); err != nil {
			return nil, err
		}
		number, err := strconv.Atoi(o.GetAnnotations()[waveAnnotation])
		if err != nil {
			return nil, fmt.Errorf("%s %q has no wave: %w", r.Kind, r.Name, err)
		}
		w := waves[number]
		if w == nil {
			w = &wave{created: o.GetCreationTimestamp().Time}
			waves[number] = w
		}
		if t := o.GetCreationTimestamp().Time; t.Before(w.created) {
			w.created = t
		}
		ready := becameReady(o)
		if first, noted := s.healthy[r.id()]; noted && first.Before(ready) { // it became ready once more
			ready = first.Truncate(time.Second)
		}
		if ready.After(w.healthy) {
			w.healthy = ready
		}
	}
	return waves, nil
}

// becameReady returns when an object became ready, or the zero time if it does not say so.
func becameReady(o *unstructured.Unstructured) time.Time {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		c, ok := c.(fields)
		if !ok || c["type"] != "Ready" && c["type"] != "Healthy" {
			continue
		}
		var at metav1.Time
		text, _ := c["lastTransitionTime"].(string)
		if at.UnmarshalQueryParameter(text) == nil {
			return at.Time
		}
	}
	return time.Time{}
}

// showsNoDifference tests that two comparisons find no difference and start no sync.
func (s *story) showsNoDifference(options string) {
	ctx := s.t.Context()
	s.must(s.annotate(ctx, appName, "argocd.argoproj.io/compare-options", options))
	before, err := s.Application(ctx, appName)
	s.must(err)
	for range 2 {
		s.must(s.Refresh(ctx, appName))
		app := s.waitFor("a comparison", func(app *Application) error {
			if app.Metadata.Annotations["argocd.argoproj.io/refresh"] != "" {
				return errors.New("it has not been compared")
			}
			return nil
		})
		for _, r := range app.Status.Resources {
			if r.Status != "Synced" {
				s.t.Errorf("%s %q is %s", r.Kind, r.Name, r.Status)
			}
		}
		if app.Status.Sync.Status != "Synced" || !app.Status.Operation.StartedAt.Equal(&before.Status.Operation.StartedAt) {
			s.t.Errorf("nothing has changed, but the Application is %s", app)
		}
	}
	s.setup.Tell("Two comparisons (%s) find no difference.", orDefault(options))
}

func orDefault(options string) string {
	if options == "" {
		return "default options"
	}
	return options
}

// healsDrift tests that Argo CD reverts changes in the cluster.
func (s *story) healsDrift(commit string) {
	ctx := s.t.Context()
	ingress, err := s.claim(ctx, "Ingress", "public")
	s.must(err)
	field := []string{"spec", "backend", "sessionScaling", "maxDllamas"}
	declared, found, err := unstructured.NestedInt64(ingress.Object, field...)
	if err != nil || !found {
		s.t.Fatalf("the Ingress has no maxDllamas: %v", err)
	}
	s.must(s.Client().Patch(ctx, ingress, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"backend":{"sessionScaling":{"maxDllamas":7}}}}`))))
	began := time.Now()
	s.waitFor("the declared field to be back", func(*Application) error {
		o, err := s.claim(ctx, "Ingress", "public")
		if err != nil {
			return err
		}
		if now, _, _ := unstructured.NestedInt64(o.Object, field...); now != declared {
			return fmt.Errorf("maxDllamas is %d", now)
		}
		return nil
	})
	s.setup.Tell("maxDllamas was changed to 7 in the cluster: it is %d again after %s.", declared, since(began))
	s.replaced("koldun.gorizond.io/v1", "Dllama", "tinyllama")
	s.replaced("v1", "Service", "public-gateway") // composed, so Crossplane makes another one
	s.waitFor("the Application to be healthy again", settled(commit))
	s.setup.Tell("Healthy again after %s.", since(began))
	s.answers()
}
