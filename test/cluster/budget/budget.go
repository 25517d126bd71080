// Package budget counts the same events as Crossplane's circuit breakers: those of
// each composite resource and of the resources it composes. It reports how much of
// a budget was left, while the breaker only reports when it is exhausted.
// docs/background/event-budget.md explains both.
package budget

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Options selects the kinds to count.
type Options struct {
	// Group is the API group of the composites, Composites their resource names.
	Group      string
	Composites []string
	// Composed are the other resources that composites compose.
	Composed []schema.GroupVersionResource
}

// A Counter counts events from its start. It is safe for concurrent use.
type Counter struct {
	mu       sync.Mutex
	accounts map[string]*account
}

// Start starts a counter, which stops when the test ends. The API server must serve
// all kinds.
func Start(t testing.TB, cfg *rest.Config, o Options) *Counter {
	t.Helper()
	client, err := metadata.NewForConfig(cfg)
	if err != nil {
		t.Fatalf("cannot make client of the counter: %v", err)
	}
	c := &Counter{accounts: map[string]*account{}}
	factory := metadatainformer.NewSharedInformerFactory(client, 0)
	watch := func(r schema.GroupVersionResource, composite bool) {
		if _, err := factory.ForResource(r).Informer().AddEventHandler(c.handler(o.Group, r, composite)); err != nil {
			t.Fatalf("cannot watch %s: %v", r.Resource, err)
		}
	}
	for _, r := range o.Composites {
		watch(schema.GroupVersionResource{Group: o.Group, Version: "v1", Resource: r}, true)
	}
	for _, r := range o.Composed {
		watch(r, false)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() {
		stop()
		factory.Shutdown()
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return c
}

func (c *Counter) handler(group string, r schema.GroupVersionResource, composite bool) cache.ResourceEventHandler {
	count := func(obj any, cost float64) {
		m, ok := obj.(*metav1.PartialObjectMetadata)
		if !ok || m.DeletionTimestamp != nil {
			return // deletions cost nothing
		}
		source := r.Resource + "/" + m.Name
		if composite {
			c.spend(r.Resource+" "+strings.TrimPrefix(m.Namespace+"/"+m.Name, "/"), "itself", cost)
		}
		owner := metav1.GetControllerOf(m)
		if owner == nil || !strings.HasPrefix(owner.APIVersion, group+"/") {
			return
		}
		namespace := m.Namespace
		if strings.HasPrefix(owner.Kind, "X") {
			namespace = ""
		}
		c.spend(plural(owner.Kind)+" "+strings.TrimPrefix(namespace+"/"+owner.Name, "/"), source, cost)
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if !initial {
				count(obj, costCreate)
			}
		},
		UpdateFunc: func(_, obj any) { count(obj, costUpdate) },
		DeleteFunc: func(obj any) {
			if m, ok := obj.(*metav1.PartialObjectMetadata); ok && composite {
				c.renew(r.Resource + " " + strings.TrimPrefix(m.Namespace+"/"+m.Name, "/"))
			}
		},
	}
}

// renew restores the budget of a deleted composite: the next one of the same name
// starts with a full budget.
func (c *Counter) renew(composite string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a, ok := c.accounts[composite]; ok {
		a.tokens, a.last = Burst, time.Now()
	}
}

func plural(kind string) string {
	if strings.HasSuffix(kind, "s") {
		return strings.ToLower(kind) + "es"
	}
	return strings.ToLower(kind) + "s"
}

func (c *Counter) spend(composite, source string, cost float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	a, ok := c.accounts[composite]
	if !ok {
		a = newAccount(now)
		c.accounts[composite] = a
	}
	a.spend(now, source, cost)
}

// Lowest returns the composite with the lowest budget ever left, such as
// "models ns/name", and that budget.
func (c *Counter) Lowest() (composite string, left float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left = Burst
	for name, a := range c.accounts {
		if a.lowest < left {
			composite, left = name, a.lowest
		}
	}
	return composite, left
}

// Left returns the lowest budget that any composite has now whose name contains the
// text.
func (c *Counter) Left(text string) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, least := time.Now(), Burst
	for name, a := range c.accounts {
		if strings.Contains(name, text) {
			least = min(least, a.left(now))
		}
	}
	return least
}

// LowestOf returns the lowest budget ever left to a composite of the resource whose name
// contains the text. found is false if none has taken an event.
func (c *Counter) LowestOf(resource, text string) (left float64, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left = Burst
	for composite, a := range c.accounts {
		if kind, name, _ := strings.Cut(composite, " "); kind == resource && strings.Contains(name, text) {
			left, found = min(left, a.lowest), true
		}
	}
	return left, found
}

// Report returns a line for each composite whose name contains the text.
func (c *Counter) Report(text string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.accounts)) {
		if strings.Contains(name, text) {
			fmt.Fprintf(&b, "%s %s\n", name, c.accounts[name].report())
		}
	}
	return b.String()
}
