package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/cluster"
)

// models returns the names that /v1/models lists.
func models(ctx context.Context, url, token string) ([]string, error) {
	rsp, err := send(ctx, http.DefaultClient, http.MethodGet, url+"/models", token, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rsp.Body.Close() }()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(rsp.Body).Decode(&list); err != nil {
		return nil, fmt.Errorf("cannot read the list of models: %w", err)
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names, nil
}

// lists waits until /v1/models lists exactly these models.
func lists(t *testing.T, url string, want ...string) {
	t.Helper()
	slices.Sort(want)
	cluster.Eventually(t, "the list of models", func(ctx context.Context) error {
		got, err := models(ctx, url, "")
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("it is %q, want %q", got, want)
		}
		return err
	})
	tell("  GET /v1/models: %q", want)
}

// askMember asks without a stream, and fails the test unless the whole answer is that of the
// model. It returns which Dllama or Session answers.
func askMember(t *testing.T, url, model string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	rsp, err := post(ctx, http.DefaultClient, url, model, "", false)
	if err != nil {
		t.Fatalf("model %q: %v", model, err)
	}
	defer func() { _ = rsp.Body.Close() }()
	var got struct {
		Model   string
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.NewDecoder(rsp.Body).Decode(&got); err != nil {
		t.Fatalf("model %q: cannot read the answer: %v", model, err)
	}
	if got.Model != model || len(got.Choices) != 1 || got.Choices[0].Message.Content != answer {
		t.Fatalf("model %q: the answer is %+v", model, got)
	}
	return rsp.Header.Get("X-Koldun-Member")
}
