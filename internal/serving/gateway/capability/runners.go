// Package capability knows what the engines of each model can do, as their runners announce it.
package capability

import (
	"context"
	"slices"
	"sync"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// Runners know what the runners of each model announce of their engines. It is
// a forecast: which engine gets a request is not known before it starts, and
// then that engine's own answer counts.
type Runners struct {
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
	Features   openai.Features    `json:"features"`
	State      queue.RunnerState  `json:"state"`
}

// isNew reports whether the engine has not answered yet, so that nothing is known
// of it.
func (c capabilities) isNew() bool {
	return c.State == queue.RunnerStarting && len(c.Honours) == 0 && len(c.Operations) == 0
}

func (c capabilities) serves(op openai.Operation) bool {
	operations := c.Operations
	if len(operations) == 0 {
		operations = openai.DefaultOperations()
	}
	return slices.Contains(operations, op)
}

// New returns runners that nothing is known of until Run runs.
func New(b *bus.Bus) *Runners {
	return &Runners{bus: b, models: map[string]map[string]capabilities{}, modelOf: map[string]string{}}
}

// Run watches the records of runners until ctx ends.
func (r *Runners) Run(ctx context.Context) {
	bus.Watch(ctx, r.bus, names.RunnersBucket, ">", r.observe)
}

func (r *Runners) observe(event bus.Event[capabilities]) {
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
func (r *Runners) forget(key string) {
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

// Serve reports whether a runner of the model serves the operation. Without
// any known runner it returns true: one may start that does.
func (r *Runners) Serve(model string, op openai.Operation) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.models[model]
	for _, c := range known {
		if c.isNew() || c.serves(op) {
			return true
		}
	}
	return len(known) == 0
}

// Offered returns all features that the request needs if a known runner of the model
// offers them, or if no runner is known, because one that does may start. Otherwise
// it returns the features of the runner that lacks the fewest.
func (r *Runners) Offered(model string, req openai.Request) openai.Features {
	if req.Features == "" {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.models[model]
	if len(known) == 0 {
		return req.Features
	}
	best, fewest := openai.Features(""), len(req.Features.Names())+1
	for _, c := range known {
		if c.isNew() {
			return req.Features
		}
		if !c.serves(req.Operation) {
			continue
		}
		if n := len(c.Features.Missing(req.Features).Names()); n < fewest || n == fewest && c.Features < best {
			best, fewest = c.Features, n
		}
	}
	return best
}

// Offers returns what the known runners of a model offer, each of them some of it, in
// order. Without any known runner it returns nothing.
func (r *Runners) Offers(model string) ([]openai.Operation, []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var operations []openai.Operation
	var features []openai.Features
	for _, c := range r.models[model] {
		if c.isNew() {
			continue
		}
		if len(c.Operations) == 0 {
			c.Operations = openai.DefaultOperations()
		}
		operations, features = append(operations, c.Operations...), append(features, c.Features)
	}
	slices.Sort(operations)
	return slices.Compact(operations), openai.NewFeatures(features...).Names()
}

// Forecast returns the parameters of a request that the engine of its model is expected
// to ignore: those that no known engine honours, and then those that one of them does not.
func (r *Runners) Forecast(model string, req openai.Request) []string {
	out := r.unknown(model, req) // sorted, as both are
	seen := len(out)
	for _, name := range r.ignored(model, req) {
		if _, found := slices.BinarySearch(out[:seen], name); !found {
			out = append(out, name)
		}
	}
	return out
}

// unknown returns the unusual parameters of a request that no known engine of its
// model honours. If no engine is known it returns none: one that starts may honour
// them, and its answer names those that it ignores.
func (r *Runners) unknown(model string, req openai.Request) []string {
	if len(req.Ignored) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	honoured, known := map[string]bool{}, false
	for _, c := range r.models[model] {
		known = known || !c.isNew()
		for _, name := range c.Honours {
			honoured[name] = true
		}
	}
	if !known {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(req.Ignored), func(name string) bool { return honoured[name] })
}

// ignored returns the names of the parameters of a request that an engine of
// its model would ignore, sorted. Engines that have not said what they honour do
// not count.
func (r *Runners) ignored(model string, req openai.Request) []string {
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
