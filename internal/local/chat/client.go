package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

const (
	// maxEvent bounds one event of an answer, in bytes.
	maxEvent = 1 << 20
	// maxList bounds the list of models and the text of an error, in bytes.
	maxList = 8 << 20
)

// A Client asks an OpenAI-compatible API. It is safe for concurrent use.
type Client struct {
	BaseURL string // up to the version, such as http://127.0.0.1:8082/v1
	Token   string // empty: none is sent
}

// A Turn is one message of a conversation.
type Turn struct {
	Role    openai.Role `json:"role"`
	Content string      `json:"content"`
}

// A Part is the next part of an answer: text of the answer, or thoughts before it.
type Part struct {
	Text, Thoughts string
}

// Models returns the names of the models that the API offers, in its order. Errors:
// Transient if the API is out of reach, Denied, NotFound or Invalid if it refuses.
func (c Client) Models(ctx context.Context) ([]string, error) {
	rsp, err := c.do(ctx, http.MethodGet, "models", nil)
	if err != nil {
		return nil, fmt.Errorf("cannot list the models of %s: %w", c.BaseURL, err)
	}
	defer func() { _ = rsp.Body.Close() }()
	var list openai.ModelList
	if err := json.NewDecoder(io.LimitReader(rsp.Body, maxList)).Decode(&list); err != nil {
		return nil, fault.Errorf(fault.Corrupt, "cannot list the models of %s: the answer is not a list of models: %w", c.BaseURL, err)
	}
	names := make([]string, 0, len(list.Data))
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names, nil
}

// Ask sends a conversation and calls emit with each part of the answer. It returns when
// the answer is complete, when emit fails, or when ctx ends.
func (c Client) Ask(ctx context.Context, model string, turns []Turn, emit func(Part) error) error {
	body, err := json.Marshal(map[string]any{"model": model, "messages": turns, "stream": true})
	if err != nil {
		return err
	}
	rsp, err := c.do(ctx, http.MethodPost, "chat/completions", body)
	if err != nil {
		return fmt.Errorf("cannot ask %s: %w", model, err)
	}
	defer func() { _ = rsp.Body.Close() }()
	if err := read(rsp.Body, emit); err != nil {
		return fmt.Errorf("cannot read the answer of %s: %w", model, err)
	}
	return nil
}

func (c Client) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	target, err := url.JoinPath(c.BaseURL, path)
	if err != nil {
		return nil, fault.As(fault.Invalid, err)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, fault.As(fault.Invalid, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fault.As(fault.Transient, err)
	}
	if rsp.StatusCode == http.StatusOK {
		return rsp, nil
	}
	defer func() { _ = rsp.Body.Close() }()
	return nil, refusal(rsp)
}

// refusal returns the error of an answer without a result, in the server's words.
func refusal(rsp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(rsp.Body, maxList))
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	message := strings.TrimSpace(string(text))
	if json.Unmarshal(text, &body) == nil && body.Error.Message != "" {
		message = body.Error.Message
	}
	kind := fault.Transient
	switch rsp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		kind = fault.Denied
	case http.StatusNotFound:
		kind = fault.NotFound
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		kind = fault.Invalid
	}
	return fault.Errorf(kind, "%s: %s", rsp.Status, message)
}

// read calls emit with the parts of a stream until its end.
func read(r io.Reader, emit func(Part) error) error {
	events := openai.NewDecoder(r, maxEvent)
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if string(e.Data) == openai.Done {
			return nil
		}
		var chunk struct {
			openai.Chunk
			Error *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(e.Data, &chunk); err != nil {
			return fault.As(fault.Corrupt, err)
		}
		if chunk.Error != nil {
			return fault.Errorf(fault.Transient, "%s", chunk.Error.Message)
		}
		for _, c := range chunk.Choices {
			var p Part
			if c.Delta.Content != nil {
				p.Text = *c.Delta.Content
			}
			if c.Delta.ReasoningContent != nil {
				p.Thoughts = *c.Delta.ReasoningContent
			}
			if p == (Part{}) {
				continue
			}
			if err := emit(p); err != nil {
				return err
			}
		}
	}
}
