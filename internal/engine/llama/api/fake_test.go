package api_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/engine/llama/api"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/test/waittest"
)

// An engineFunc is an engine made of one function.
type engineFunc func(ctx context.Context, r llama.Request, emit func(llama.Piece) error) (llama.Result, error)

func (f engineFunc) Generate(ctx context.Context, r llama.Request, emit func(llama.Piece) error) (llama.Result, error) {
	return f(ctx, r, emit)
}

// Embed is that of all fakes: see vectorOf.
func (engineFunc) Embed(ctx context.Context, in llama.Input, how llama.Pooling) (llama.Embedding, error) {
	return vectorOf(ctx, in, how)
}

// vectorOf returns a vector of four numbers that tells inputs apart, with a token
// for each byte or token of the input.
func vectorOf(_ context.Context, in llama.Input, how llama.Pooling) (llama.Embedding, error) {
	n := len(in.Text) + len(in.Tokens)
	switch {
	case how != llama.PoolMean:
		return llama.Embedding{}, fault.Errorf(fault.Invalid, "cannot embed: the pooling is %q", how)
	case n > 100:
		return llama.Embedding{}, fault.As(fault.Invalid, &llama.TooLongError{Tokens: n, SeqLen: 100})
	}
	return llama.Embedding{Values: []float32{3, 4, float32(n), 0}, Tokens: n}, nil
}

// says answers with pieces.
func says(finish llama.Finish, pieces ...string) engineFunc {
	return func(_ context.Context, _ llama.Request, emit func(llama.Piece) error) (llama.Result, error) {
		if err := emit(llama.Piece{}); err != nil {
			return llama.Result{}, err
		}
		for i, text := range pieces {
			if err := emit(llama.Piece{Text: text, Tokens: i + 1}); err != nil {
				return llama.Result{}, err
			}
		}
		return llama.Result{Finish: finish, PromptTokens: 5, CachedTokens: 2, Tokens: len(pieces) + 1, PromptTime: 1, AnswerTime: 1}, nil
	}
}

func serve(tb testing.TB, e api.Engine, o api.Options) *httptest.Server {
	tb.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	if o.Model == "" {
		o.Model = "tiny.m"
	}
	s := httptest.NewServer(api.New(e, o))
	tb.Cleanup(s.Close)
	return s
}

// post sends a chat request and reads the whole answer.
func post(tb testing.TB, url, body string) (*http.Response, string) {
	tb.Helper()
	resp, err := waittest.Client().Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	return resp, read(tb, resp)
}

func read(tb testing.TB, resp *http.Response) string {
	tb.Helper()
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

const hello = `{"messages":[{"role":"user","content":"Hello"}]}`

// with adds fields to the request.
func with(fields string) string { return strings.TrimSuffix(hello, "}") + "," + fields + "}" }
