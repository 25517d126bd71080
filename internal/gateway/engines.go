package gateway

import (
	"context"
	"slices"
	"sync"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
)

// engines know which hints the engines of a model honour, as their runners
// announce it. What they say is a forecast: which engine gets a request is not
// known before it starts, and then it speaks for itself.
type engines struct {
	bus *bus.Bus

	mu     sync.Mutex
	models map[string]map[string][]string // hints by runner's key, by model
	of     map[string]string              // model by runner's key
}

func newEngines(b *bus.Bus) *engines {
	return &engines{bus: b, models: map[string]map[string][]string{}, of: map[string]string{}}
}

// announced is what matters here of queue.Runner.
type announced struct {
	Model   string   `json:"model"`
	Honours []string `json:"honours"`
}

// run keeps the knowledge fresh until ctx ends.
func (e *engines) run(ctx context.Context) {
	bus.Watch(ctx, e.bus, names.RunnersBucket, ">", e.hear)
}

func (e *engines) hear(event bus.Event[announced]) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case event.Kind == bus.Synced:
	case event.Kind == bus.Gone, len(event.Value.Honours) == 0:
		e.forget(event.Key)
	case e.of[event.Key] == event.Value.Model:
		e.models[event.Value.Model][event.Key] = event.Value.Honours
	default:
		e.forget(event.Key)
		e.of[event.Key] = event.Value.Model
		if e.models[event.Value.Model] == nil {
			e.models[event.Value.Model] = map[string][]string{}
		}
		e.models[event.Value.Model][event.Key] = event.Value.Honours
	}
}

// forget is called with mu held.
func (e *engines) forget(key string) {
	model, ok := e.of[key]
	if !ok {
		return
	}
	delete(e.of, key)
	delete(e.models[model], key)
	if len(e.models[model]) == 0 {
		delete(e.models, model)
	}
}

// ignored names the hints of a request that an engine of its model would
// ignore, sorted; none if no engine is known.
func (e *engines) ignored(model string, chat openai.ChatRequest) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for _, honoured := range e.models[model] {
		out = append(out, chat.Request(openai.OperationChat).Unhonoured(honoured)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
