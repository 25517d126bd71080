package gateway

import (
	"context"
	"slices"
	"sync"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
)

// runners knows what the runners of each model announce of their engines. It is
// a forecast: which engine gets a request is not known before it starts, and
// then that engine's own answer counts.
type runners struct {
	bus *bus.Bus

	mu      sync.Mutex
	models  map[string]map[string]capabilities // by model and runner's key
	modelOf map[string]string                  // by runner's key
}

// capabilities is the part of queue.Runner that says what its engine can do.
type capabilities struct {
	Model      string             `json:"model"`
	Honours    []string           `json:"honours"`    // empty: not known yet
	Operations []openai.Operation `json:"operations"` // empty: openai.DefaultOperations
}

func newRunners(b *bus.Bus) *runners {
	return &runners{bus: b, models: map[string]map[string]capabilities{}, modelOf: map[string]string{}}
}

// run watches the records of runners until ctx ends.
func (r *runners) run(ctx context.Context) {
	bus.Watch(ctx, r.bus, names.RunnersBucket, ">", r.observe)
}

func (r *runners) observe(event bus.Event[capabilities]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch event.Kind {
	case bus.Changed:
	case bus.Synced:
		return
	case bus.Gone:
		r.forget(event.Key)
		return
	}
	model := event.Value.Model
	if r.modelOf[event.Key] != model {
		r.forget(event.Key)
	}
	if r.models[model] == nil {
		r.models[model] = map[string]capabilities{}
	}
	r.modelOf[event.Key] = model
	r.models[model][event.Key] = event.Value
}

// forget is called with mu held.
func (r *runners) forget(key string) {
	model, known := r.modelOf[key]
	if !known {
		return
	}
	delete(r.modelOf, key)
	delete(r.models[model], key)
	if len(r.models[model]) == 0 {
		delete(r.models, model)
	}
}

// serve reports whether a runner of the model serves the operation. Without
// any known runner it returns true: one may start that does.
func (r *runners) serve(model string, op openai.Operation) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.models[model]
	for _, c := range known {
		operations := c.Operations
		if len(operations) == 0 {
			operations = openai.DefaultOperations()
		}
		if slices.Contains(operations, op) {
			return true
		}
	}
	return len(known) == 0
}

// ignored returns the names of the hints of a request that an engine of its
// model would ignore, sorted. Engines that have not said what they honour do
// not count.
func (r *runners) ignored(model string, req openai.Request) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, c := range r.models[model] {
		if len(c.Honours) > 0 {
			out = append(out, req.Unhonoured(c.Honours)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
