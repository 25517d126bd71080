package serving_test

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

// ask sends one request and records all that comes of it. leaveAfter, if not 0,
// is after how many pieces the client goes away.
func ask(ctx context.Context, client *http.Client, url string, w wish, stream bool, leaveAfter int) entry {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e := entry{wish: w, invoked: time.Now()}
	defer func() { e.ended = time.Now() }()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", body(w, stream))
	if err != nil {
		e.verdict, e.code = fail, err.Error()
		return e
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		e.verdict = info
		e.ended = time.Now()
		return e
	}
	defer func() { _ = resp.Body.Close() }()
	e.status, e.id = resp.StatusCode, resp.Header.Get("X-Request-Id")
	switch {
	case e.status != http.StatusOK:
		e.refused(resp.Body)
	case stream:
		e.events(resp.Body, leaveAfter)
	default:
		e.whole(resp.Body)
	}
	e.ended = time.Now()
	return e
}

// body asks for what is wished for.
func body(w wish, stream bool) io.Reader {
	content, _ := json.Marshal(w)
	quoted, _ := json.Marshal(string(content))
	return strings.NewReader(fmt.Sprintf(`{"model":%q,"stream":%t,"messages":[{"role":"user","content":%s}]}`, modelID, stream, quoted))
}

func chatBody(w wish) io.Reader { return body(w, true) }

func (e *entry) refused(r io.Reader) {
	text, err := io.ReadAll(r)
	var told openai.Error
	if err != nil || json.Unmarshal(text, &told) != nil {
		e.verdict = info
		return
	}
	e.verdict, e.code = fail, told.Code
}

func (e *entry) whole(r io.Reader) {
	text, err := io.ReadAll(r)
	var answer struct {
		Choices []struct {
			Message struct{ Content string }
		}
	}
	if err != nil || json.Unmarshal(text, &answer) != nil || len(answer.Choices) != 1 {
		e.verdict = info
		return
	}
	e.text, e.verdict = answer.Choices[0].Message.Content, ok
}

// events reads a stream to its end.
func (e *entry) events(r io.Reader, leaveAfter int) {
	in := bufio.NewReader(r)
	for pieces := 0; ; {
		line, err := in.ReadString('\n')
		if err != nil {
			e.verdict = info
			if errors.Is(err, io.EOF) {
				e.verdict = silent // the server has ended it properly
			}
			return
		}
		data, isData := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data: ")
		if !isData {
			continue
		}
		if data == openai.Done {
			e.verdict = ok
			return
		}
		var chunk struct {
			Choices []struct {
				Delta struct{ Content string }
			}
			Error *struct{ Code string }
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			e.verdict = silent
			return
		}
		if chunk.Error != nil {
			e.verdict, e.code = fail, chunk.Error.Code
			return
		}
		if len(chunk.Choices) == 1 && chunk.Choices[0].Delta.Content != "" {
			e.text += chunk.Choices[0].Delta.Content
			if pieces++; pieces == leaveAfter {
				e.verdict = left
				return
			}
		}
	}
}
