package gateway

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/serving/registry"
)

// TestAgents sends what coding agents send by default (Claude Code 2.1.332, Codex 0.171.0):
// parts that have no effect are listed, and calls have the names that the client gave.
func TestAgents(t *testing.T) {
	const (
		claude = `,"thinking":{"type":"adaptive","display":"omitted"},"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},` +
			`"output_config":{"effort":"high"},"tools":[{"name":"weather","input_schema":{"type":"object"}},{"type":"web_search_20250305","name":"web_search"}]`
		codex = `,"tools":[{"type":"function","name":"exec_command","strict":false,"parameters":{"type":"object","properties":{}}},` +
			`{"type":"namespace","name":"weather","description":"Tools.","tools":[{"type":"function","name":"get","strict":false,"parameters":{"type":"object"}}]},` +
			`{"type":"web_search","external_web_access":true}]`
	)
	for name, c := range map[string]struct {
		path, body string
		ignored    []string
		want       string
	}{
		"ClaudeCode": {messagesPath, messageBody(claude), []string{"context_management", "web_search_20250305"}, `"name":"weather__get"`},
		"Codex":      {responsesPath, responseBody(codex), []string{"web_search"}, `"name":"get","namespace":"weather"`},
	} {
		for _, stream := range []string{"", streaming} {
			t.Run(name+strings.Trim(stream, `,":`), func(t *testing.T) {
				w := newWorld(t, nil)
				startRunner(t, w.bus, tinySession, callsNamespace)
				r, body := w.do("POST", c.path, strings.TrimSuffix(c.body, "}")+stream+"}")
				if r.StatusCode != http.StatusOK || !strings.Contains(body, c.want) {
					t.Errorf("%d %s, want %s", r.StatusCode, body, c.want)
				}
				ignored := strings.Split(r.Header.Get(headerIgnored), ", ")
				for _, kind := range c.ignored {
					if !slices.Contains(ignored, kind) {
						t.Errorf("ignored are %q, want %q", ignored, kind)
					}
				}
			})
		}
	}
}

// TestShouldRetry holds that clients do not repeat what will be refused again: Claude Code
// repeats a 401 for minutes unless it is told.
func TestShouldRetry(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *timing) { c.AllowAnonymous = false })
	w.putToken(registry.Token{SHA256: digest("good-token-of-a-test"), Namespace: "default"})
	for name, c := range map[string]struct {
		path, body, token string
		status            int
	}{
		"NoToken":      {"/v1/chat/completions", `{}`, "", 401},
		"WrongToken":   {messagesPath, messageBody(""), "bad", 401},
		"NoModel":      {"/v1/chat/completions", `{"model":"nope","messages":[{"role":"user","content":"a"}]}`, "good-token-of-a-test", 404},
		"NoEndpoint":   {"/v1/nope", `{}`, "good-token-of-a-test", 404},
		"NoSuchMethod": {"/v1/models", `{}`, "good-token-of-a-test", 405},
		"WrongBody":    {responsesPath, `{`, "good-token-of-a-test", 400},
	} {
		t.Run(name, func(t *testing.T) {
			r, body := w.do("POST", c.path, c.body, "Authorization", "Bearer "+c.token)
			if r.StatusCode != c.status || r.Header.Get("X-Should-Retry") != "false" {
				t.Errorf("%d %q %s", r.StatusCode, r.Header.Get("X-Should-Retry"), body)
			}
		})
	}
	for _, status := range []int{408, 409, 429, 500, 502, 503} {
		if isFinal(status) {
			t.Errorf("%d is final", status)
		}
	}
}

// TestModelsOfMessages holds that clients of Anthropic's API see models, and errors on paths
// that several APIs have, in its shape.
func TestModelsOfMessages(t *testing.T) {
	w := newWorld(t, nil)
	const tiny = `{"type":"model","id":"default/tiny","display_name":"tiny","created_at":"2026-01-02T03:04:05Z","max_input_tokens":null,"max_tokens":null}`
	for path, want := range map[string]string{
		"/v1/models":              `{"data":[` + tiny + `],"has_more":false,"first_id":"default/tiny","last_id":"default/tiny"}`,
		"/v1/models/default/tiny": tiny,
		"/v1/models?limit=0":      `{"type":"error","error":{"type":"invalid_request_error","message":"'limit' must be between 1 and 1000"}}`,
	} {
		if _, body := w.do("GET", path, "", "anthropic-version", "2023-06-01"); strings.TrimSpace(body) != want {
			t.Errorf("%s: got %s, want %s", path, body, want)
		}
	}
	for _, path := range []string{"/v1/models/none", "/v1/messages/batches"} {
		r, body := w.do("GET", path, "", "anthropic-version", "2023-06-01")
		if r.StatusCode != http.StatusNotFound || !strings.HasPrefix(body, `{"type":"error","error":{"type":"not_found_error"`) {
			t.Errorf("%s: %d %s", path, r.StatusCode, body)
		}
	}
}

// TestResponsesRefuseByName holds that operations on responses which are not served say so,
// and that no query is left out silently.
func TestResponsesRefuseByName(t *testing.T) {
	w := newWorld(t, nil)
	const id = responsesPath + "/resp_01234567890123456789012345"
	for _, c := range []struct{ method, path, name string }{
		{"POST", responsesPath + "/input_tokens", "'input_tokens'"}, {"GET", id + "/input_items?limit=2", "'input_items'"},
		{"POST", id + "/cancel", "'cancel'"}, {"GET", id + "?stream=true", "'stream'"},
	} {
		r, body := w.do(c.method, c.path, "{}")
		if r.StatusCode != http.StatusBadRequest || !strings.Contains(body, c.name) {
			t.Errorf("%s %s: %d %s", c.method, c.path, r.StatusCode, body)
		}
	}
	r, _ := w.do("GET", id+"?stream=false&include[]=x&starting_after=3", "")
	if ignored := r.Header.Get(headerIgnored); ignored != "include, starting_after" {
		t.Errorf("ignored are %q", ignored)
	}
}

// callsNamespace calls a function of a group by the name that chats have for it.
func callsNamespace(_ context.Context, s *responder) {
	s.started()
	s.piece("", `{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"weather__get","arguments":"{}"}}]}`)
	s.end("tool_calls", 5, 1)
}

// TestClosingTagAlone holds that an answer whose template has opened the thoughts is parted
// at the tag that closes them: as a whole, and in a stream from the piece that has it.
func TestClosingTagAlone(t *testing.T) {
	for name, c := range map[string]struct {
		pieces           []string
		whole, streaming string
	}{
		"OnePiece": {[]string{"hmm\n</think>\n\nanswer"}, `"content":"answer"`, `{"reasoning_content":"hmm\n"}`},
		"Pieces":   {[]string{"h", "mm", "\n", "</", "think>", "\n", "ans", "wer"}, `"content":"answer"`, `{"content":"ans"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			startRunner(t, w.bus, tinySession, replies(c.pieces...))
			_, body := w.do("POST", "/v1/chat/completions", `{"model":"tiny","messages":[{"role":"user","content":"a"}]}`)
			if !strings.Contains(body, c.whole) || !strings.Contains(body, `"reasoning_content":"hmm\n"`) || strings.Contains(body, "think>") {
				t.Errorf("the answer is %s", body)
			}
			_, body = w.do("POST", "/v1/chat/completions", `{"model":"tiny","messages":[{"role":"user","content":"a"}]`+streaming+`}`)
			if !strings.Contains(body, c.streaming) || strings.Contains(body, "think>") {
				t.Errorf("the stream is %s", body)
			}
		})
	}
}
