package node_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

// errBroken is the error for a connection that ended before the answer.
var errBroken = errors.New("the connection broke") //nolint:gochecknoglobals // a sentinel

// A refusal is an error that the gateway reports, as its answer or as the last event of a
// stream.
type refusal struct {
	Code, Message string
	status        string // of the answer; empty for an event
}

func (r *refusal) Error() string {
	if r.status == "" {
		return fmt.Sprintf("the answer ends with the error %s: %s", r.Code, r.Message)
	}
	return fmt.Sprintf("the status is %s: %s: %s", r.status, r.Code, r.Message)
}

// ask sends a streaming request, and returns the time until the first text, and the text. Its
// errors are errBroken, a refusal, or one that no gateway should cause.
func ask(ctx context.Context, url, model, token string) (first time.Duration, text string, err error) {
	return askBy(ctx, http.DefaultClient, url, model, token)
}

// askBy is ask by another client.
func askBy(ctx context.Context, by *http.Client, url, model, token string) (first time.Duration, text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	began := time.Now()
	rsp, err := post(ctx, by, url, model, token, true)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = rsp.Body.Close() }()
	for lines := bufio.NewScanner(rsp.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == openai.Done {
			return first, text, nil
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
			Error   *refusal
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return first, text, fmt.Errorf("cannot read event %q: %w", data, err)
		}
		if chunk.Error != nil {
			return first, text, chunk.Error
		}
		for _, c := range chunk.Choices {
			if text == "" && c.Delta.Content != "" {
				first = time.Since(began)
			}
			text += c.Delta.Content
		}
	}
	return first, text, fmt.Errorf("%w after %q", errBroken, text)
}

// post sends the question. Its errors are those of ask, before any text.
func post(ctx context.Context, by *http.Client, url, model, token string, stream bool) (*http.Response, error) {
	body := fmt.Sprintf(`{"model":%q,"stream":%t,"messages":[{"role":"user","content":%q}]}`, model, stream, question)
	return send(ctx, by, http.MethodPost, url+"/chat/completions", token, strings.NewReader(body))
}

// send sends a request. An answer other than 200 is a refusal.
func send(ctx context.Context, by *http.Client, method, url, token string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	rsp, err := by.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	if rsp.StatusCode == http.StatusOK {
		return rsp, nil
	}
	defer func() { _ = rsp.Body.Close() }()
	raw, _ := io.ReadAll(rsp.Body)
	var reported struct{ Error refusal }
	if json.Unmarshal(raw, &reported) != nil || reported.Error.Message == "" {
		return nil, fmt.Errorf("the status is %s, and no error of OpenAI: %s", rsp.Status, raw)
	}
	reported.Error.status = rsp.Status
	return nil, &reported.Error
}
