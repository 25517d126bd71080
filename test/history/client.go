package history

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

// A ChatRequest is a request for a chat completion.
type ChatRequest struct {
	Prompt          Prompt
	From            Tenant
	Stream          bool
	DisconnectAfter int               // number of pieces; 0: never
	Header          map[string]string // additional headers
}

// SendChat sends one anonymous request.
func SendChat(ctx context.Context, client *http.Client, url string, w Prompt, stream bool, disconnectAfter int) Entry {
	return ChatRequest{Prompt: w, Stream: stream, DisconnectAfter: disconnectAfter}.Send(ctx, client, url)
}

// Send sends the request and records the answer. The client disconnects when ctx
// ends.
func (q ChatRequest) Send(ctx context.Context, client *http.Client, url string) (e Entry) {
	whole, cancel := context.WithCancel(ctx)
	defer cancel()
	e = Entry{Prompt: q.Prompt, Tenant: q.From, Invoked: time.Now()}
	defer func() { e.Ended = time.Now() }()
	req, err := http.NewRequestWithContext(whole, http.MethodPost, url+"/v1/chat/completions", Body(q.Prompt, q.Stream))
	if err != nil {
		e.Verdict, e.Code = fail, err.Error()
		return e
	}
	req.Header.Set("Content-Type", "application/json")
	q.From.Sign(req)
	for name, value := range q.Header {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		e.Verdict, e.Code = Broken, err.Error()
		if ctx.Err() != nil {
			e.Verdict = Disconnected
		}
		return e
	}
	defer func() { _ = resp.Body.Close() }()
	e.Status, e.ID = resp.StatusCode, resp.Header.Get("X-Request-Id")
	var received bytes.Buffer
	answer := io.Reader(resp.Body)
	if q.From.Mark != "" { // the checker reads it only for tenants with a mark
		answer = io.TeeReader(resp.Body, &received)
		_ = resp.Header.Write(&received)
	}
	switch {
	case e.Status != http.StatusOK:
		e.refused(answer)
	case q.Stream:
		e.events(answer, q.DisconnectAfter)
	default:
		e.whole(answer)
	}
	if e.Verdict == Broken && ctx.Err() != nil {
		e.Verdict = Disconnected
	}
	e.Received = received.Bytes()
	return e
}

// Body returns the JSON of a request with the prompt.
func Body(w Prompt, stream bool) io.Reader {
	content, _ := json.Marshal(w)
	if w.Question != "" {
		content = []byte(w.Question)
	}
	quoted, _ := json.Marshal(string(content))
	return strings.NewReader(fmt.Sprintf(`{"model":%q,"stream":%t,"messages":[{"role":"user","content":%s}]}`, ModelID, stream, quoted))
}

// ChatBody returns the JSON of a request that streams.
func ChatBody(w Prompt) io.Reader { return Body(w, true) }

func (e *Entry) refused(r io.Reader) {
	text, err := io.ReadAll(r)
	var received openai.Error
	if err != nil || json.Unmarshal(text, &received) != nil {
		e.Verdict = Broken
		return
	}
	e.Verdict, e.Code = fail, received.Code
}

func (e *Entry) whole(r io.Reader) {
	text, err := io.ReadAll(r)
	var answer struct {
		Choices []struct {
			Message struct{ Content string }
		}
	}
	if err != nil || json.Unmarshal(text, &answer) != nil || len(answer.Choices) != 1 {
		e.Verdict = Broken
		return
	}
	e.text, e.Verdict = answer.Choices[0].Message.Content, OK
}

// events reads a stream of server-sent events to its end.
func (e *Entry) events(r io.Reader, disconnectAfter int) {
	in := bufio.NewReader(r)
	for pieces := 0; ; {
		line, err := in.ReadString('\n')
		if err != nil {
			e.Verdict = Broken
			if errors.Is(err, io.EOF) {
				e.Verdict = silent // the server has ended the stream normally
			}
			return
		}
		data, isData := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data: ")
		if !isData {
			continue
		}
		if data == openai.Done {
			e.Verdict = OK
			return
		}
		var chunk struct {
			Choices []struct {
				Delta struct{ Content string }
			}
			Error *struct{ Code string }
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			e.Verdict = silent
			return
		}
		if chunk.Error != nil {
			e.Verdict, e.Code = fail, chunk.Error.Code
			return
		}
		if len(chunk.Choices) == 1 && chunk.Choices[0].Delta.Content != "" {
			e.text += chunk.Choices[0].Delta.Content
			if pieces++; pieces == disconnectAfter {
				e.Verdict = Disconnected
				return
			}
		}
	}
}
