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

// A chatRequest is a request for a chat completion.
type chatRequest struct {
	prompt          prompt
	from            tenant
	stream          bool
	disconnectAfter int               // number of pieces; 0: never
	header          map[string]string // additional headers
}

// sendChat sends one anonymous request.
func sendChat(ctx context.Context, client *http.Client, url string, w prompt, stream bool, disconnectAfter int) entry {
	return chatRequest{prompt: w, stream: stream, disconnectAfter: disconnectAfter}.send(ctx, client, url)
}

// send sends the request and records the answer. The client disconnects when ctx
// ends.
func (q chatRequest) send(ctx context.Context, client *http.Client, url string) (e entry) {
	whole, cancel := context.WithCancel(ctx)
	defer cancel()
	e = entry{prompt: q.prompt, tenant: q.from, invoked: time.Now()}
	defer func() { e.ended = time.Now() }()
	req, err := http.NewRequestWithContext(whole, http.MethodPost, url+"/v1/chat/completions", body(q.prompt, q.stream))
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
			e.verdict = disconnected
		}
		return e
	}
	defer func() { _ = resp.Body.Close() }()
	e.status, e.id = resp.StatusCode, resp.Header.Get("X-Request-Id")
	var received bytes.Buffer
	answer := io.Reader(resp.Body)
	if q.from.mark != "" { // the checker reads it only for tenants with a mark
		answer = io.TeeReader(resp.Body, &received)
		_ = resp.Header.Write(&received)
	}
	switch {
	case e.status != http.StatusOK:
		e.refused(answer)
	case q.stream:
		e.events(answer, q.disconnectAfter)
	default:
		e.whole(answer)
	}
	if e.verdict == info && ctx.Err() != nil {
		e.verdict = disconnected
	}
	e.received = received.Bytes()
	return e
}

// sign adds the tenant's token to a request.
func (t tenant) sign(req *http.Request) {
	if t.token != "" {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
}

// body returns the JSON of a request with the prompt.
func body(w prompt, stream bool) io.Reader {
	content, _ := json.Marshal(w)
	if w.question != "" {
		content = []byte(w.question)
	}
	quoted, _ := json.Marshal(string(content))
	return strings.NewReader(fmt.Sprintf(`{"model":%q,"stream":%t,"messages":[{"role":"user","content":%s}]}`, modelID, stream, quoted))
}

func chatBody(w prompt) io.Reader { return body(w, true) }

func (e *entry) refused(r io.Reader) {
	text, err := io.ReadAll(r)
	var received openai.Error
	if err != nil || json.Unmarshal(text, &received) != nil {
		e.verdict = info
		return
	}
	e.verdict, e.code = fail, received.Code
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

// events reads a stream of server-sent events to its end.
func (e *entry) events(r io.Reader, disconnectAfter int) {
	in := bufio.NewReader(r)
	for pieces := 0; ; {
		line, err := in.ReadString('\n')
		if err != nil {
			e.verdict = info
			if errors.Is(err, io.EOF) {
				e.verdict = silent // the server has ended the stream normally
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
			if pieces++; pieces == disconnectAfter {
				e.verdict = disconnected
				return
			}
		}
	}
}
