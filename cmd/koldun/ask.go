package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

// maxEvent bounds one event of an answer, in bytes.
const maxEvent = 1 << 20

// ask sends one question and streams the answer to w. The API token may be empty.
func ask(ctx context.Context, baseURL, token, model, question string, w io.Writer) error {
	body, err := json.Marshal(map[string]any{
		"model":    model,
		"messages": []map[string]string{{"role": "user", "content": question}},
		"stream":   true,
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, baseURL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("cannot ask %s: %w", model, err)
	}
	defer func() { _ = rsp.Body.Close() }()
	if rsp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(rsp.Body, maxEvent))
		return fault.Errorf(fault.Transient, "cannot ask %s: %s: %s", model, rsp.Status, text)
	}
	if err := copyAnswer(rsp.Body, w); err != nil {
		return fmt.Errorf("cannot read the answer of %s: %w", model, err)
	}
	return nil
}

// copyAnswer writes the text of the chunks to w until the end of the stream.
func copyAnswer(r io.Reader, w io.Writer) error {
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
			if c.Delta.Content == nil {
				continue
			}
			if _, err := io.WriteString(w, *c.Delta.Content); err != nil {
				return err
			}
		}
	}
}
