// Package api serves the embedded engine over HTTP, with the API of
// distributed-llama's dllama-api: POST /v1/chat/completions and GET
// /v1/models, and beyond it POST /v1/embeddings. Field names and shapes are the same; where that server differs
// from the OpenAI API or aborts, this one does what OpenAI documents.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/engine/embedded"
	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/model/constrain"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/openai"
)

// An Engine answers requests. It is safe for concurrent use and computes as many
// answers at the same time as it has slots; further requests wait in Generate.
type Engine interface {
	// Generate is that of llama.Engine.
	Generate(ctx context.Context, r llama.Request, emit func(llama.Piece) error) (llama.Result, error)
	// Embed is that of llama.Engine.
	Embed(ctx context.Context, in llama.Input, how llama.Pooling) (llama.Embedding, error)
}

// Options adjust a Handler.
type Options struct {
	Model   string    // id under which the engine answers
	Created time.Time // of the model; zero is 1970, as dllama-api says
	// Sampling holds for requests that set no hints of their own. The first
	// request without a seed gets this seed and each further one a different
	// seed, so a server with a fixed seed repeats its answers after a restart.
	Sampling llama.Sampling
	Calls    toolcall.Family // format in which the model calls tools; "" means toolcall.Generic
	Slots    int             // answers that the engine computes at the same time; 0 means 1
	Waiting  int             // requests that may wait for the engine; 0 means 16
	// WriteTimeout is how long the engine waits for a client that does not read,
	// while its slot is taken; 0 means 30 s.
	WriteTimeout time.Duration
	Logger       *slog.Logger // nil means slog.Default(); never sees prompts or answers
	Metrics      *Metrics     // nil means that they are not read
}

const (
	defaultWaiting      = 16
	defaultWriteTimeout = 30 * time.Second
)

// A Handler serves the API.
type Handler struct {
	engine     Engine
	o          Options
	honours    string        // sampling parameters that the engine honours, as its description lists them
	features   string        // that the engine offers, as its description lists them
	operations string        // that the endpoints serve
	models     []byte        // answer to GET /v1/models
	admit      chan struct{} // holds a token for each request that runs or waits
	mux        *http.ServeMux
	object     *constrain.Grammar // any JSON object
	grammars   *constrain.Cache
	seeding    sync.Mutex
	seeds      uint64 // how many requests had no seed
}

// New returns a Handler. The caller closes the engine.
func New(e Engine, o Options) *Handler {
	if o.Slots <= 0 {
		o.Slots = 1
	}
	if o.Waiting <= 0 {
		o.Waiting = defaultWaiting
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = defaultWriteTimeout
	}
	if o.Calls == "" {
		o.Calls = toolcall.Generic
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	created := int64(0)
	if !o.Created.IsZero() {
		created = o.Created.Unix()
	}
	about := embedded.Engine()
	h := &Handler{engine: e, honours: strings.Join(about.Parameters, ", "), features: strings.Join(about.Features, ", "), o: o, admit: make(chan struct{}, o.Slots+o.Waiting), mux: http.NewServeMux()}
	h.object, h.grammars = constrain.Object(), constrain.NewCache()
	if !o.Calls.Forces() { // then there is all but a forced choice
		h.features = strings.Join(openai.FeatureToolChoice.Missing(openai.NewFeatures(h.features)).Names(), ", ")
	}
	h.models = encode(openai.ModelList{
		Object: "list",
		Data:   []openai.Model{{ID: o.Model, Object: "model", Created: created, OwnedBy: "user"}},
	})
	h.route(h.endpoints())
	return h
}

// ServeHTTP serves the API. Each answer lists in headers what the engine honours
// and serves. Unlike dllama-api it refuses web pages, which send the header
// Origin: on a user's own machine, any page could use the engine otherwise.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(openai.HeaderHonours, h.honours)
	w.Header().Set(openai.HeaderOperations, h.operations)
	w.Header().Set(openai.HeaderFeatures, h.features)
	if r.Header.Get("Origin") != "" {
		writeError(w, &openai.Error{
			Status: http.StatusForbidden, Type: openai.InvalidRequest, Message: "the engine does not serve web pages: use the gateway",
		})
		return
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// seed returns the seed for a request that sets none.
func (h *Handler) seed() uint64 {
	h.seeding.Lock()
	defer h.seeding.Unlock()
	n := h.seeds
	h.seeds++
	if n == 0 {
		return h.o.Sampling.Seed
	}
	return mix(h.o.Sampling.Seed + n*golden)
}

const golden = 0x9E3779B97F4A7C15

// mix makes neighbouring seeds independent (the finalizer of SplitMix64). The
// states of the sampler's own generator would not be: two consecutive ones give
// the same numbers, shifted by one.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
