package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

// pooling makes one vector of a text. The mean suits models that were not trained
// for embeddings, too.
const pooling = llama.PoolMean

// embed answers a request for embeddings.
func (h *Handler) embed(w http.ResponseWriter, r *http.Request) {
	ask, bad := h.readEmbedding(w, r)
	if bad != nil {
		h.o.Metrics.refused()
		writeError(w, bad)
		return
	}
	leave := h.enter(w)
	if leave == nil {
		return
	}
	defer leave()
	h.o.Metrics.inFlight.Inc()
	defer h.o.Metrics.inFlight.Dec()

	began := time.Now()
	vectors, tokens, err := h.vectors(r.Context(), ask)
	result := llama.Result{Finish: llama.FinishStop, PromptTokens: tokens, PromptTime: time.Since(began)}
	outcome, failure := outcomeOf(r.Context(), result, err, "input")
	switch {
	case err == nil:
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(h.o.WriteTimeout))
		writeJSON(w, http.StatusOK, encode(openai.NewEmbeddings(h.o.Model, vectors, ask.Base64, openai.NewUsage(tokens, 0))))
	case failure != nil:
		writeError(w, failure)
	}
	h.o.Metrics.done(outcome, result, time.Since(began))
	log := h.o.Logger.With("outcome", outcome, "inputs", ask.Count, "promptTokens", tokens, "duration", time.Since(began))
	if outcome == outcomeFailed {
		log.Error("cannot embed", "error", err)
		return
	}
	log.Info("embedded")
}

// readEmbedding reads a request. The error is for the client.
func (h *Handler) readEmbedding(w http.ResponseWriter, r *http.Request) (openai.EmbeddingRequest, *openai.Error) {
	body, bad := readBody(w, r)
	if bad != nil {
		return openai.EmbeddingRequest{}, bad
	}
	ask, err := openai.ParseEmbedding(h.complement(body))
	if err != nil {
		return openai.EmbeddingRequest{}, parseError(err)
	}
	texts, _ := ask.Inputs()
	for i, text := range texts {
		if text == "" {
			return ask, openai.BadRequest(fmt.Sprintf("input[%d]", i), openai.CodeInvalidValue, fmt.Sprintf("'input[%d]' must not be empty", i))
		}
	}
	return ask, nil
}

// vectors computes the embeddings of all inputs, as many at a time as there are
// slots, and the number of their tokens. The length of the first vector shows
// whether all of them fit into an answer.
func (h *Handler) vectors(ctx context.Context, ask openai.EmbeddingRequest) ([]openai.Embedding, int, error) {
	inputs := inputsOf(ask)
	out, tokens := make([]openai.Embedding, len(inputs)), make([]int, len(inputs))
	one := func(ctx context.Context, i int) error {
		e, err := h.engine.Embed(ctx, inputs[i], pooling)
		if err != nil {
			return err
		}
		if ask.Dimensions > len(e.Values) {
			return fault.As(fault.Invalid, openai.BadRequest("dimensions", openai.CodeInvalidValue,
				fmt.Sprintf("'dimensions' must be at most %d: the embeddings of this model have no more", len(e.Values))))
		}
		out[i], tokens[i] = openai.NewEmbedding(i, shortened(e.Values, ask.Dimensions)), e.Tokens
		return nil
	}
	if err := one(ctx, 0); err != nil {
		return nil, 0, err
	}
	if size := len(inputs) * len(out[0].Vector); size > openai.MaxEmbeddings {
		return nil, 0, fault.As(fault.Invalid, openai.TooManyEmbeddings(len(inputs), size))
	}
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(h.o.Slots)
	for i := 1; i < len(inputs) && within.Err() == nil; i++ {
		g.Go(func() error { return one(within, i) })
	}
	if err := g.Wait(); err != nil {
		return nil, 0, err
	}
	sum := 0
	for _, n := range tokens {
		sum += n
	}
	return out, sum, context.Cause(ctx)
}

func inputsOf(ask openai.EmbeddingRequest) []llama.Input {
	texts, tokens := ask.Inputs()
	out := make([]llama.Input, 0, ask.Count)
	for _, text := range texts {
		out = append(out, llama.Input{Text: text})
	}
	for _, ids := range tokens {
		out = append(out, llama.Input{Tokens: ids})
	}
	return out
}

// shortened returns the first n values with a length of 1 again, or all for 0.
func shortened(values []float32, n int) []float32 {
	if n == 0 || n >= len(values) {
		return values
	}
	values = values[:n]
	var squares float64
	for _, v := range values {
		squares += float64(v) * float64(v)
	}
	if squares == 0 {
		return values
	}
	out, length := make([]float32, n), math.Sqrt(squares)
	for i, v := range values {
		out[i] = float32(float64(v) / length)
	}
	return out
}
