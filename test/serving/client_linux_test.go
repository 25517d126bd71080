package serving_test

import (
	"bufio"
	"bytes"
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

// A question is a request to be sent.
type question struct {
	wish       wish
	from       tenant
	stream     bool
	leaveAfter int               // how many pieces; 0 is never
	header     map[string]string // further ones
}

// ask sends one request of nobody in particular.
func ask(ctx context.Context, client *http.Client, url string, w wish, stream bool, leaveAfter int) entry {
	return question{wish: w, stream: stream, leaveAfter: leaveAfter}.ask(ctx, client, url)
}

// ask sends the request and records all that comes of it. When ctx ends, the
// client goes away.
func (q question) ask(ctx context.Context, client *http.Client, url string) (e entry) {
	whole, cancel := context.WithCancel(ctx)
	defer cancel()
	e = entry{wish: q.wish, tenant: q.from, invoked: time.Now()}
	defer func() { e.ended = time.Now() }()
	req, err := http.NewRequestWithContext(whole, http.MethodPost, url+"/v1/chat/completions", body(q.wish, q.stream))
	if err != nil {
		e.verdict, e.code = fail, err.Error()
		return e
	}
	req.Header.Set("Content-Type", "application/json")
	q.from.sign(req)
	for name, value := range q.header {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		e.verdict = info
		if ctx.Err() != nil {
			e.verdict = left
		}
		return e
	}
	defer func() { _ = resp.Body.Close() }()
	e.status, e.id = resp.StatusCode, resp.Header.Get("X-Request-Id")
	var heard bytes.Buffer
	answer := io.Reader(resp.Body)
	if q.from.mark != "" { // what no checker looks at is not worth its memory
		answer = io.TeeReader(resp.Body, &heard)
		_ = resp.Header.Write(&heard)
	}
	switch {
	case e.status != http.StatusOK:
		e.refused(answer)
	case q.stream:
		e.events(answer, q.leaveAfter)
	default:
		e.whole(answer)
	}
	if e.verdict == info && ctx.Err() != nil {
		e.verdict = left
	}
	e.heard = heard.Bytes()
	return e
}

// sign makes a request the tenant's.
func (t tenant) sign(req *http.Request) {
	if t.token != "" {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
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
