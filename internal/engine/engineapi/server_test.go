package engineapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/test/waittest"
)

func serverClient(t *testing.T, url string, change ...func(*engineapi.ServerConfig)) *engineapi.Server {
	t.Helper()
	cfg := engineapi.ServerConfig{URL: url, Model: "served", Parameters: []string{"temperature", "top_k"}, Features: "tools"}
	for _, f := range change {
		f(&cfg)
	}
	s, err := engineapi.NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// gather does a request, and returns the text and the parts that came.
func gather(t *testing.T, s *engineapi.Server, r engineapi.Request, o engineapi.Options) (string, openai.Parts, engineapi.Result, error) {
	t.Helper()
	var text strings.Builder
	var parts openai.Parts
	res, err := s.Do(waittest.Context(t), r, o, func(d engineapi.Delta) error {
		text.WriteString(d.Text)
		parts.Add(d.Parts)
		return nil
	})
	return text.String(), parts, res, err
}

// fails is gather for its error only.
func fails(t *testing.T, s *engineapi.Server, r engineapi.Request, o engineapi.Options) error {
	t.Helper()
	_, _, res, err := gather(t, s, r, o)
	if err == nil {
		t.Logf("it ends with %+v", res)
	}
	return err
}

func TestServerAnswers(t *testing.T) {
	call := func(events ...string) enginetest.ServerReply { return enginetest.ServerReply{Events: events} }
	text := func(s string) string { return enginetest.TextChunk("/v1/chat/completions", s) }
	tool := func(calls string) string { return `{"choices":[{"index":0,"delta":{"tool_calls":[` + calls + `]}}]}` }
	stop := enginetest.Finish("stop")
	weather := func(id, arguments string) openai.ToolCall {
		return openai.ToolCall{ID: id, Type: "function", Function: openai.ToolFunction{Name: "weather", Arguments: arguments}}
	}
	second := weather("b", "{}")
	second.Index = 1
	cases := map[string]struct {
		reply  enginetest.ServerReply
		text   string
		parts  openai.Parts
		finish string
	}{
		"Text":     {reply: call(text("a "), text("b"), stop), text: "a b", finish: "stop"},
		"Length":   {reply: call(text("a"), enginetest.Finish("length")), text: "a", finish: "length"},
		"NoDone":   {reply: enginetest.ServerReply{Events: []string{text("a"), stop}, NoDone: true}, text: "a", finish: "stop"},
		"Comments": {reply: call(": ping\n\n", text("a"), ": ping\n\n", "event: x\ndata: "+stop+"\n\n"), text: "a", finish: "stop"},
		"NoChoices": {
			reply: call(`{"choices":[],"prompt_filter_results":[]}`, text("a"), `{"choices":[{"index":1,"delta":{"content":"no"}}]}`, stop, `{"choices":[],"usage":{"prompt_tokens":3}}`),
			text:  "a", finish: "stop",
		},
		"Reasoning":    {reply: call(`{"choices":[{"delta":{"reasoning":"h"}}]}`, `{"choices":[{"delta":{"reasoning_content":"m","content":null}}]}`, text("a"), stop), text: "a", parts: openai.Parts{Reasoning: "hm"}, finish: "stop"},
		"Refusal":      {reply: call(`{"choices":[{"delta":{"refusal":"no"}}]}`, stop), parts: openai.Parts{Refusal: "no"}, finish: "stop"},
		"WholeCall":    {reply: call(tool(`{"index":0,"id":"a","type":"function","function":{"name":"weather","arguments":"{\"x\":1}"}}`), enginetest.Finish("tool_calls")), parts: openai.Parts{ToolCalls: []openai.ToolCall{weather("a", `{"x":1}`)}}, finish: "tool_calls"},
		"CallInPieces": {reply: call(text("a"), tool(`{"index":0,"id":"a","function":{"name":"weather"}}`), tool(`{"index":0,"function":{"arguments":"{\"x\""}}`), tool(`{"index":0,"function":{"arguments":":1}"}}`), stop), text: "a", parts: openai.Parts{ToolCalls: []openai.ToolCall{weather("a", `{"x":1}`)}}, finish: "tool_calls"},
		"RepeatsName":  {reply: call(tool(`{"index":0,"id":"a","function":{"name":"weather"}},{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"x\""}}`), tool(`{"index":0,"id":"a","function":{"name":"weather","arguments":":1}"}}`), stop), parts: openai.Parts{ToolCalls: []openai.ToolCall{weather("a", `{"x":1}`)}}, finish: "tool_calls"},
		"NameGrows":    {reply: call(tool(`{"index":0,"id":"a","function":{"name":"weat"}}`), tool(`{"index":0,"function":{"name":"weather","arguments":"{\"x\":1}"}}`), stop), parts: openai.Parts{ToolCalls: []openai.ToolCall{weather("a", `{"x":1}`)}}, finish: "tool_calls"},
		"NameInPieces": {reply: call(tool(`{"index":0,"id":"a","function":{"name":"weat"}}`), tool(`{"index":0,"function":{"name":"her","arguments":"{\"x\":1}"}}`), stop), parts: openai.Parts{ToolCalls: []openai.ToolCall{weather("a", `{"x":1}`)}}, finish: "tool_calls"},
		"SameIndex":    {reply: call(tool(`{"index":0,"id":"a","function":{"name":"weather","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"weather","arguments":{ }}}`), stop), parts: openai.Parts{ToolCalls: []openai.ToolCall{weather("a", "{}"), second}}, finish: "tool_calls"},
		"NoIndex":      {reply: call(tool(`{"id":"a","function":{"name":"weather","arguments":"{"}}`), tool(`{"function":{"arguments":"}"}}`), tool(`{"id":"b","function":{"name":"weather","arguments":"{}"}}`), stop), parts: openai.Parts{ToolCalls: []openai.ToolCall{weather("a", "{}"), second}}, finish: "tool_calls"},
		"NoArguments":  {reply: call(tool(`{"index":0,"id":"a","function":{"name":"weather","arguments":""}}`), enginetest.Finish("tool_calls")), parts: openai.Parts{ToolCalls: []openai.ToolCall{weather("a", "{}")}}, finish: "tool_calls"},
		"CutCall":      {reply: call(tool(`{"index":0,"id":"a","function":{"name":"weather"}}`), enginetest.Finish("length")), parts: openai.Parts{ToolCalls: []openai.ToolCall{weather("a", "")}}, finish: "length"},
		"NoError":      {reply: call(`{"error":null,"choices":[{"delta":{"content":"a"}}]}`, `{"error":"","choices":[{"delta":{},"finish_reason":"stop"}]}`), text: "a", finish: "stop"},
		"OldLogprobs": {
			reply: call(`{"choices":[{"text":"a","logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":[{"b":-2,"a":-1}],"text_offset":[0]}}]}`, stop),
			text:  "a", finish: "stop",
			parts: openai.Parts{Logprobs: &openai.Logprobs{Content: []json.RawMessage{json.RawMessage(
				`{"token":"a","logprob":-1,"bytes":[97],"top_logprobs":[{"token":"a","logprob":-1,"bytes":[97]},{"token":"b","logprob":-2,"bytes":[98]}]}`)}}},
		},
		"Logprobs": {
			reply: call(`{"choices":[{"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-1}]}}]}`, `{"choices":[{"delta":{"content":"b"},"logprobs":{"content":[{"token":"b","logprob":-2}]}}]}`, stop),
			text:  "ab", finish: "stop",
			parts: openai.Parts{Logprobs: &openai.Logprobs{Content: []json.RawMessage{json.RawMessage(`{"token":"a","logprob":-1}`), json.RawMessage(`{"token":"b","logprob":-2}`)}}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			double := enginetest.StartServer(t, func(enginetest.ServerRequest) enginetest.ServerReply { return c.reply })
			text, parts, res, err := gather(t, serverClient(t, double.URL), ask("x"), engineapi.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if text != c.text || res.FinishReason != c.finish || res.Features != "tools" {
				t.Errorf("text %q, want %q; %+v", text, c.text, res)
			}
			if d := cmp.Diff(c.parts, parts); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestServerFails(t *testing.T) {
	text := enginetest.TextChunk("/v1/chat/completions", "a")
	reply := func(status int, body string) enginetest.ServerReply {
		return enginetest.ServerReply{Status: status, Body: body}
	}
	cases := map[string]struct {
		reply   enginetest.ServerReply
		kind    fault.Kind
		is      error
		refused *openai.Error // shown to the client
		says    string
	}{
		"Busy":          {reply: reply(429, `{"error":{"message":"slow down"}}`), kind: fault.Transient, is: engineapi.ErrBusy, says: "slow down"},
		"Full":          {reply: reply(503, `{"error":"server busy"}`), kind: fault.Transient, is: engineapi.ErrBusy, says: "server busy"},
		"Broken":        {reply: reply(500, `oops`), kind: fault.Transient, says: "500"},
		"Key":           {reply: reply(401, `{"error":{"message":"bad key"}}`), kind: fault.Denied, says: "API key or account (401): bad key"},
		"Payment":       {reply: reply(402, `{"error":{"message":"no credit"}}`), kind: fault.Denied, says: "API key or account (402): no credit"},
		"NoModel":       {reply: reply(404, `{"object":"error","message":"no such model","code":404}`), kind: fault.NotFound, says: "no such model"},
		"Redirect":      {reply: reply(302, ``), kind: fault.Invalid, says: "redirect"},
		"Invalid":       {reply: reply(400, `{"error":{"message":"bad","type":"BadRequestError","param":"top_k","code":400}}`), kind: fault.Invalid, refused: &openai.Error{Status: 400, Message: "bad", Type: "BadRequestError", Param: "top_k"}},
		"Detail":        {reply: reply(422, `{"detail":[{"loc":["body"]}]}`), kind: fault.Invalid, refused: &openai.Error{Status: 422, Message: `[{"loc":["body"]}]`}},
		"ContextWords":  {reply: reply(400, `{"error":{"message":"prompt is too long: 9 tokens > 8 maximum","type":"invalid_request_error"}}`), kind: fault.Invalid, refused: &openai.Error{Status: 400, Type: openai.InvalidRequest, Message: "prompt is too long: 9 tokens > 8 maximum", Code: openai.CodeContextLength}},
		"Context":       {reply: reply(400, `{"error":{"message":"This model's maximum context length is 8 tokens","code":400}}`), kind: fault.Invalid, refused: &openai.Error{Status: 400, Message: "This model's maximum context length is 8 tokens", Code: openai.CodeContextLength}},
		"ErrorInStream": {reply: enginetest.ServerReply{Events: []string{`{"error":{"message":"The request queue is full.","code":503}}`}}, kind: fault.Transient, is: engineapi.ErrBusy, says: "full"},
		"ErrorAfter":    {reply: enginetest.ServerReply{Events: []string{text, `{"error":{"message":"cuda"}}`}}, kind: fault.Transient, says: "cuda"},
		"ErrorInChunk": {
			reply: enginetest.ServerReply{Events: []string{text, `{"error":{"code":"server_error","message":"cuda"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`}},
			kind:  fault.Transient, says: "cuda",
		},
		"EndsEarly": {reply: enginetest.ServerReply{Events: []string{text}, NoDone: true}, kind: fault.Transient, says: "unexpected EOF"},
		"Breaks":    {reply: enginetest.ServerReply{Events: []string{text, enginetest.Finish("stop")}, Break: true}, kind: fault.Transient},
		"NotJSON":   {reply: enginetest.ServerReply{Events: []string{"x"}}, kind: fault.Transient, says: "not a chunk"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			double := enginetest.StartServer(t, func(enginetest.ServerRequest) enginetest.ServerReply { return c.reply })
			err := fails(t, serverClient(t, double.URL), ask("x"), engineapi.Options{})
			if fault.KindOf(err) != c.kind || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("err = %v (%v), want %v with %q", err, fault.KindOf(err), c.kind, c.says)
			}
			var refused *openai.Error
			errors.As(err, &refused)
			if d := cmp.Diff(c.refused, refused); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("Down", func(t *testing.T) {
		err := fails(t, serverClient(t, "http://"+porttest.Address(t)), ask("x"), engineapi.Options{})
		if !errors.Is(err, engineapi.ErrLoading) || !fault.Is(err, fault.Transient) {
			t.Errorf("err = %v", err)
		}
	})
}

// The server gets what it honours, under its own name of the model, on connections
// that stay open, with the key of the moment.
func TestServerIsAsked(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	double := enginetest.StartServer(t, nil)
	s := serverClient(t, double.URL+"/", func(c *engineapi.ServerConfig) { c.KeyFile = key })
	for _, word := range []string{"one", "two"} {
		if err := os.WriteFile(key, []byte(word+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r, _, err := engineapi.Decode(openai.OperationChat, []byte(`{"model":"ns/m","messages":[{"role":"user","content":"a b"},{"role":"assistant","tool_calls":[{"id":"1"}]},{"role":"tool","tool_call_id":"1","content":"c d"}],
			"temperature":0.5,"seed":1,"top_k":3,"min_p":0.1,"stop":"x","max_tokens":9,"tools":[{"type":"function"}],"user":"u"}`))
		if err != nil {
			t.Fatal(err)
		}
		text, _, res, err := gather(t, s, r, engineapi.Options{})
		if err != nil || text != "c d" || res.Usage.CompletionTokens != 2 {
			t.Fatalf("%q, %+v, %v", text, res, err)
		}
	}
	completion, err := openai.DecodeCompletion([]byte(`{"model":"ns/m","prompt":"once upon"}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := completion.Body("ns/m", 0)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := engineapi.Decode(openai.OperationCompletion, body)
	if err != nil {
		t.Fatal(err)
	}
	if text, _, _, err := gather(t, s, r, engineapi.Options{}); err != nil || text != "once upon" {
		t.Fatalf("%q, %v", text, err)
	}
	asked := double.Requests()
	got, _ := json.Marshal(asked[0].Body)
	const want = `{"max_tokens":9,"messages":[{"role":"user","content":"a b"},{"role":"assistant","content":"","tool_calls":[{"id":"1"}]},{"role":"tool","content":"c d","tool_call_id":"1"}],` +
		`"model":"served","stop":["x"],"stream":true,"stream_options":{"include_usage":true},"temperature":0.5,"tools":[{"type":"function"}],"top_k":3}`
	if string(got) != want {
		t.Errorf("asked\n%s, want\n%s", got, want)
	}
	if asked[0].Authorization != "Bearer one" || asked[1].Authorization != "Bearer two" || asked[2].Path != "/v1/completions" || double.Connections() != 1 {
		t.Errorf("%q, %q, %s, %d connections", asked[0].Authorization, asked[1].Authorization, asked[2].Path, double.Connections())
	}
}

// A server is ready if it lists the model and generates; otherwise the error names
// the models that it has.
func TestServerWarmsUp(t *testing.T) {
	double := enginetest.StartServer(t, nil)
	s := serverClient(t, double.URL)
	if err := fails(t, s, engineapi.WarmUp{}, engineapi.Options{}); err != nil {
		t.Error(err)
	}
	double.SetModels("served:latest")
	if err := s.Alive(waittest.Context(t)); err != nil {
		t.Error(err)
	}
	double.SetModels("other", "third")
	before := len(double.Requests())
	err := fails(t, s, engineapi.WarmUp{}, engineapi.Options{})
	if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), `"other", "third"`) || !strings.Contains(err.Error(), `"served"`) {
		t.Errorf("err = %v", err)
	}
	if n := len(double.Requests()); n != before {
		t.Error("the server was asked for a token")
	}
}

func TestServerStopsWhenItsClientDoes(t *testing.T) {
	gate, ended := make(chan struct{}, 1), make(chan int, 1)
	double := enginetest.StartServer(t, func(r enginetest.ServerRequest) enginetest.ServerReply {
		reply := enginetest.EchoChunks(r)
		reply.Gate, reply.Done = gate, func(events int) { ended <- events }
		return reply
	})
	gate <- struct{}{}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	_, err := serverClient(t, double.URL).Do(ctx, ask("a b c"), engineapi.Options{}, func(engineapi.Delta) error { cancel(cause); return nil })
	if !errors.Is(err, cause) {
		t.Errorf("err = %v", err)
	}
	if n := waittest.Receive(t, "the end of the stream", ended); n != 1 {
		t.Errorf("the server sent %d events", n)
	}
}

// A connection is used again even if the end of an answer comes a little after
// [DONE].
func TestServerEndsLate(t *testing.T) {
	var mu sync.Mutex
	clients := map[string]bool{}
	const asked = 5
	double := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		clients[r.RemoteAddr] = true
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: "+enginetest.Finish("stop")+"\n\ndata: [DONE]\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Millisecond):
		}
	}))
	t.Cleanup(double.Close)
	s := serverClient(t, double.URL)
	for range asked {
		if err := fails(t, s, ask("a"), engineapi.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(clients) == asked { // on a busy machine, some may be closed
		t.Errorf("%d requests came on %d connections", asked, len(clients))
	}
}

func TestServerIsSilent(t *testing.T) {
	gate := make(chan struct{})
	double := enginetest.StartServer(t, func(r enginetest.ServerRequest) enginetest.ServerReply {
		reply := enginetest.EchoChunks(r)
		reply.Gate = gate
		return reply
	})
	err := fails(t, serverClient(t, double.URL), ask("a"), engineapi.Options{Timeouts: engineapi.Timeouts{First: 10 * time.Millisecond}})
	if !errors.Is(err, engineapi.ErrTimeout) || !fault.Is(err, fault.Transient) {
		t.Errorf("err = %v", err)
	}
}

func TestEmbeddings(t *testing.T) {
	reply := enginetest.ServerReply{Status: 200}
	double := enginetest.StartServer(t, func(enginetest.ServerRequest) enginetest.ServerReply { return reply })
	s := serverClient(t, double.URL)
	r, about, err := engineapi.Decode(openai.OperationEmbedding, []byte(`{"model":"m","input":["a","b"],"dimensions":2}`))
	if err != nil || about.Features != "dimensions" {
		t.Fatal(err, about.Features)
	}
	reply.Body = `{"data":[{"index":1,"embedding":"AACAPwAAAMA="},{"index":0,"embedding":[1,-0.1]}],"usage":{"prompt_tokens":4,"total_tokens":4}}`
	_, parts, res, err := gather(t, s, r, engineapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list := openai.NewEmbeddings("ns/m", parts.Embeddings, false, res.Usage)
	got, _ := openai.Encode(list)
	const want = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1,-0.1]},{"object":"embedding","index":1,"embedding":[1,-2]}],"model":"ns/m","usage":{"prompt_tokens":4,"total_tokens":4}}`
	if string(got) != want {
		t.Errorf("got %s", got)
	}
	for name, body := range map[string]string{
		"Few": `{"data":[{"index":0,"embedding":[1]}]}`, "Index": `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`,
		"Empty": `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[]}]}`, "Odd": `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":"AAAA"}]}`,
		"NotJSON": `{`, "there are 1, not 2": `{"data":[{"index":0,"embedding":[1]}]}`,
		"it comes twice": `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}]}`,
	} {
		reply.Body = body
		if err := fails(t, s, r, engineapi.Options{}); !fault.Is(err, fault.Transient) || strings.Contains(name, " ") && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	reply.Body = `{"data":[{"index":0,"embedding":[` + strings.Repeat("1,", 1<<19) + `1]},{"index":1,"embedding":[` + strings.Repeat("1,", 1<<19) + `1]}]}`
	var refused *openai.Error
	if err := fails(t, s, r, engineapi.Options{}); !errors.As(err, &refused) || refused.Param != "input" {
		t.Errorf("err = %v", err)
	}
	var many []string // whose vectors fit into an answer, but not what is around them
	for i := range 2048 {
		many = append(many, fmt.Sprintf(`{"index":%d,"embedding":[%s1]}`, i, strings.Repeat("1,", 381)))
	}
	reply.Body = `{"data":[` + strings.Join(many, ",") + `]}`
	refused = nil
	if err := fails(t, s, engineapi.Embedding{Input: []byte(`[]`), Count: len(many)}, engineapi.Options{}); !errors.As(err, &refused) || refused.Param != "input" {
		t.Errorf("err = %v", err)
	}
}

// The embedded engine is asked for base64, and its answer read as that of servers.
func TestEngineEmbeddings(t *testing.T) {
	var asked string
	double := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.URL.Path + " " + string(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"data":[{"index":1,"embedding":"AACAPw=="},{"index":0,"embedding":"AAAAQA=="}],"usage":{"prompt_tokens":4,"total_tokens":4}}`)
	}))
	t.Cleanup(double.Close)
	var got []openai.Embedding
	res, err := client(t, double.URL).Do(waittest.Context(t), engineapi.Embedding{Input: []byte(`["a","b"]`), Count: 2, Dimensions: 1}, engineapi.Options{}, func(d engineapi.Delta) error {
		got = append(got, d.Parts.Embeddings...)
		return nil
	})
	if err != nil || res.Usage == nil || res.Usage.PromptTokens != 4 || res.Deltas != 0 {
		t.Fatalf("%+v, err = %v", res, err)
	}
	if d := cmp.Diff([]openai.Embedding{{Index: 1, Vector: "AACAPw=="}, {Index: 0, Vector: "AAAAQA=="}}, got); d != "" {
		t.Error(d)
	}
	if want := `/v1/embeddings {"dimensions":1,"encoding_format":"base64","input":["a","b"]}`; asked != want {
		t.Errorf("asked %s, want %s", asked, want)
	}
}

func TestNewServer(t *testing.T) {
	for _, url := range []string{"", "127.0.0.1:80", "ftp://a", "http://", "http://a?b", "http://u:secret@a", "http://u:secret%@a", "u:secret@a", "http://a#b", "http://a\n"} {
		_, err := engineapi.NewServer(engineapi.ServerConfig{URL: url, Model: "m"})
		if !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
	if _, err := engineapi.NewServer(engineapi.ServerConfig{URL: "https://a/v1"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("no model: %v", err)
	}
}
