package enginetest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gorizond/koldun/internal/openai"
)

// A ServerRequest is what an OpenAI-compatible server was asked.
type ServerRequest struct {
	Path          string
	Authorization string
	Body          map[string]json.RawMessage
}

// Last is the content of the last message, or the prompt.
func (r ServerRequest) Last() string {
	var messages []struct {
		Content string `json:"content"`
	}
	var prompt string
	_ = json.Unmarshal(r.Body["prompt"], &prompt)
	if json.Unmarshal(r.Body["messages"], &messages) == nil && len(messages) > 0 {
		return messages[len(messages)-1].Content
	}
	return prompt
}

// A ServerReply is how the server answers.
type ServerReply struct {
	Events []string // data of the events, or raw lines if they end in two line ends
	NoDone bool     // the stream ends without [DONE]
	Break  bool     // the connection breaks after the events
	// Gate, if set, lets one event pass for each value received.
	Gate <-chan struct{}
	// Done, if set, is called when the stream has ended, whole or not.
	Done func(events int)
	// Status, if not 0, and Body are the answer instead.
	Status int
	Body   string
	// RetryAfter, if not "", is the header of that answer.
	RetryAfter string
}

// A Server is a double of an OpenAI-compatible server, with its faults.
type Server struct {
	URL string // with the path /v1

	mu       sync.Mutex
	models   []string
	metrics  string
	requests []ServerRequest
	open     map[string]bool // addresses of connections
	conns    int
}

// StartServer runs a server on a loopback port until the test ends. It lists the
// model "served". reply may be nil: then the answer is the last message, word by
// word.
func StartServer(tb testing.TB, reply func(ServerRequest) ServerReply) *Server {
	tb.Helper()
	if reply == nil {
		reply = EchoChunks
	}
	s := &Server{models: []string{"served"}, open: map[string]bool{}}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if !s.open[r.RemoteAddr] {
			s.open[r.RemoteAddr] = true
			s.conns++
		}
		s.mu.Unlock()
		if r.Method == http.MethodGet {
			s.get(w, r)
			return
		}
		got := ServerRequest{Path: r.URL.Path, Authorization: r.Header.Get("Authorization")}
		_ = json.NewDecoder(r.Body).Decode(&got.Body)
		s.mu.Lock()
		s.requests = append(s.requests, got)
		s.mu.Unlock()
		reply(got).write(w, r)
	}))
	tb.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	s.URL = h.URL + "/v1"
	return s
}

// SetModels replaces the models that the server lists.
func (s *Server) SetModels(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = names
}

// Requests returns what the server was asked, oldest first.
func (s *Server) Requests() []ServerRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ServerRequest(nil), s.requests...)
}

// Connections returns how many connections have carried a request.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// SetMetrics sets the text of /metrics. Empty: the server has none.
func (s *Server) SetMetrics(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.metrics = text
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/metrics" {
		s.list(w)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.metrics == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = io.WriteString(w, s.metrics)
}

func (s *Server) list(w http.ResponseWriter) {
	list := openai.ModelList{Object: "list", Data: []openai.Model{}}
	s.mu.Lock()
	for _, name := range s.models {
		list.Data = append(list.Data, openai.Model{ID: name, Object: "model"})
	}
	s.mu.Unlock()
	_ = json.NewEncoder(w).Encode(list)
}

// write writes the answer.
func (p ServerReply) write(w http.ResponseWriter, r *http.Request) {
	if p.Status != 0 {
		w.Header().Set("Content-Type", "application/json")
		if p.RetryAfter != "" {
			w.Header().Set("Retry-After", p.RetryAfter)
		}
		w.WriteHeader(p.Status)
		_, _ = io.WriteString(w, p.Body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	sent := 0
	defer func() {
		if p.Done != nil {
			p.Done(sent)
		}
	}()
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	for _, event := range p.Events {
		if p.Gate != nil {
			select {
			case <-p.Gate:
			case <-r.Context().Done():
				return
			}
		}
		if !strings.HasSuffix(event, "\n\n") {
			event = "data: " + event + "\n\n"
		}
		_, _ = io.WriteString(w, event)
		_ = flush.Flush()
		sent++
	}
	if p.Break {
		panic(http.ErrAbortHandler)
	}
	if !p.NoDone {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

// EchoChunks answers with the last message, word by word, and with usage in a
// chunk without choices.
func EchoChunks(r ServerRequest) ServerReply {
	var reply ServerReply
	words := strings.SplitAfter(r.Last(), " ")
	for _, word := range words {
		reply.Events = append(reply.Events, TextChunk(r.Path, word))
	}
	usage, _ := json.Marshal(map[string]any{"choices": []any{}, "usage": openai.NewUsage(3, len(words))})
	reply.Events = append(reply.Events, Finish("stop"), string(usage))
	return reply
}

// TextChunk is a chunk with text, of the form that a path has.
func TextChunk(path, text string) string {
	choice := map[string]any{"index": 0, "delta": map[string]any{"role": "assistant", "content": text}, "finish_reason": nil}
	if strings.HasSuffix(path, "/completions") && !strings.HasSuffix(path, "/chat/completions") {
		choice = map[string]any{"index": 0, "text": text, "finish_reason": nil}
	}
	chunk, _ := json.Marshal(map[string]any{"id": "x", "object": "chat.completion.chunk", "model": "served", "choices": []any{choice}, "usage": nil})
	return string(chunk)
}

// Finish is a chunk that says why the answer ends.
func Finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}
