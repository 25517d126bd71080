package node_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/ask"
	"github.com/gorizond/koldun/test/cluster"
)

const (
	question = "What is Koldun?"
	answer   = "Koldun turns a short YAML claim into a running, OpenAI-compatible language model service on distributed-llama."
)

// asks returns a client of an API that sends no token if it is empty.
func asks(url, token string) ask.Client { return ask.New(http.DefaultClient, url, token) }

// streams tests that a model streams the whole answer, and returns the time until its first
// part.
func streams(t *testing.T, c ask.Client, model string) (first time.Duration) {
	t.Helper()
	first, text, err := c.Stream(t.Context(), model, question)
	if err != nil || text != answer {
		t.Fatalf("the answer of %s is %q: %v", model, text, err)
	}
	return first
}

// askMember asks without a stream, and fails the test unless the whole answer is that of the
// model. It returns which Dllama or Session answers.
func askMember(t *testing.T, c ask.Client, model string) string {
	t.Helper()
	text, member, err := c.Whole(t.Context(), model, question)
	if err != nil || text != answer {
		t.Fatalf("the answer of %s is %q: %v", model, text, err)
	}
	return member
}

// lists returns an error unless the API lists exactly these models, in the order of names.
func lists(ctx context.Context, c ask.Client, want ...string) error {
	got, err := c.Models(ctx)
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("the models are %q, want %q", got, want)
	}
	return err
}

// mustList waits until the API lists exactly these models.
func mustList(t *testing.T, c ask.Client, want ...string) {
	t.Helper()
	slices.Sort(want)
	cluster.Eventually(t, "the list of models", func(ctx context.Context) error { return lists(ctx, c, want...) })
	tell("  GET /v1/models: %q", want)
}
