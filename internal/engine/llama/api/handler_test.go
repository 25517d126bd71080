package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/engine/llama/api"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/test/waittest"
)

var changing = regexp.MustCompile(`"chatcmpl-[A-Z0-9]{26}"|"created":[0-9]{10}`)

// masked replaces ids and times.
func masked(s string) string {
	return changing.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasPrefix(m, `"created"`) {
			return `"created":T`
		}
		return `"ID"`
	})
}

func TestWholeAnswer(t *testing.T) {
	s := serve(t, says(llama.FinishStop, "Hel", "lo <&> 🧙"), api.Options{})
	resp, body := post(t, s.URL, hello)
	want := `{"id":"ID","object":"chat.completion","created":T,"model":"tiny.m","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"Hello <&> 🧙","refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":2}}}`
	if d := cmp.Diff(want, masked(body)); d != "" {
		t.Error(d)
	}
	if resp.StatusCode != http.StatusOK || resp.ContentLength != int64(len(body)) || resp.Header.Get("Content-Type") != "application/json; charset=utf-8" ||
		resp.Header.Get("Access-Control-Allow-Origin") != "" || resp.Header.Get(openai.HeaderHonours) != "temperature, top_p, seed" {
		t.Errorf("status %d, length %d, header %v", resp.StatusCode, resp.ContentLength, resp.Header)
	}
}

func TestStreamedAnswer(t *testing.T) {
	const (
		head  = `data: {"id":"ID","object":"chat.completion.chunk","created":T,"model":"tiny.m","choices":[`
		role  = `{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}]`
		text  = `{"index":0,"delta":{"content":"Hel"},"logprobs":null,"finish_reason":null}]`
		more  = `{"index":0,"delta":{"content":"lo\n"},"logprobs":null,"finish_reason":null}]`
		last  = `{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}]`
		usage = `"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":2}}`
	)
	cases := map[string]struct{ fields, want string }{
		"UsageInLastChunk": {
			`"stream":true`,
			head + role + "}\n\n" + head + text + "}\n\n" + head + more + "}\n\n" + head + last + "," + usage + "}\n\ndata: [DONE]\n\n",
		},
		"IncludeUsage": {
			`"stream":true,"stream_options":{"include_usage":true}`,
			head + role + `,"usage":null}` + "\n\n" + head + text + `,"usage":null}` + "\n\n" + head + more + `,"usage":null}` + "\n\n" +
				head + last + `,"usage":null}` + "\n\n" + head + "]," + usage + "}\n\ndata: [DONE]\n\n",
		},
	}
	s := serve(t, says(llama.FinishLength, "Hel", "lo\n"), api.Options{})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			resp, body := post(t, s.URL, with(c.fields))
			if d := cmp.Diff(c.want, masked(body)); d != "" {
				t.Error(d)
			}
			if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" || resp.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("status %d, header %v", resp.StatusCode, resp.Header)
			}
		})
	}
}

// TestStreamSaysWhichStopCame holds that the last chunk names the stop sequence.
func TestStreamSaysWhichStopCame(t *testing.T) {
	s := serve(t, engineFunc(func(_ context.Context, r llama.Request, emit func(llama.Piece) error) (llama.Result, error) {
		return llama.Result{Finish: llama.FinishStop, Stop: r.Stop[1]}, emit(llama.Piece{Text: "Hel", Tokens: 1})
	}), api.Options{})
	if _, body := post(t, s.URL, with(`"stream":true,"stop":["a","END"]`)); !strings.Contains(body, `"finish_reason":"stop","stop_reason":"END"}]`) {
		t.Errorf("the stream is %s", body)
	}
}

func TestRequestFields(t *testing.T) {
	defaults := llama.Sampling{Temperature: .75, TopP: .5, Seed: 7}
	messages := []llama.Message{{Role: "user", Content: "Hello"}}
	request := func(maxTokens int, s llama.Sampling, stop ...string) llama.Request {
		return llama.Request{Messages: messages, MaxTokens: maxTokens, Sampling: s, Stop: stop}
	}
	cases := map[string]struct {
		body string
		want llama.Request
	}{
		"Defaults":       {hello, request(0, defaults)},
		"AnyModel":       {with(`"model":"other"`), request(0, defaults)},
		"EmptyModel":     {with(`"model":""`), request(0, defaults)},
		"NullModel":      {with(`"model":null`), request(0, defaults)},
		"MaxTokens":      {with(`"max_tokens":9`), request(9, defaults)},
		"MaxCompletion":  {with(`"max_completion_tokens":9`), request(9, defaults)},
		"NoLimitZero":    {with(`"max_tokens":0`), request(0, defaults)},
		"NoLimitMinus":   {with(`"max_tokens":-1`), request(0, defaults)},
		"Greedy":         {with(`"temperature":0`), request(0, llama.Sampling{TopP: .5, Seed: 7})},
		"Sampling":       {with(`"temperature":1.5,"top_p":0.25,"seed":99`), request(0, llama.Sampling{Temperature: 1.5, TopP: .25, Seed: 99})},
		"NegativeSeed":   {with(`"seed":-1`), request(0, llama.Sampling{Temperature: .75, TopP: .5, Seed: 1<<64 - 1})},
		"SeedZero":       {with(`"seed":0`), request(0, llama.Sampling{Temperature: .75, TopP: .5})},
		"StopString":     {with(`"stop":"x"`), request(0, defaults, "x")},
		"StopList":       {with(`"stop":["x","","y"]`), request(0, defaults, "x", "y")},
		"StopNull":       {with(`"stop":null,"temperature":null,"seed":null,"max_tokens":null`), request(0, defaults)},
		"ContentInParts": {`{"messages":[{"role":"user","content":[{"type":"text","text":"Hello"}]}]}`, request(0, defaults)},
		"UnknownField":   {with(`"top_k":4`), request(0, defaults)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got llama.Request
			s := serve(t, engineFunc(func(ctx context.Context, r llama.Request, emit func(llama.Piece) error) (llama.Result, error) {
				got = r
				return says(llama.FinishStop)(ctx, r, emit)
			}), api.Options{Sampling: defaults})
			if resp, body := post(t, s.URL, c.body); resp.StatusCode != http.StatusOK {
				t.Fatalf("status %d: %s", resp.StatusCode, body)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestSeeds wants another seed for every request, and the same ones again from
// the next server.
func TestSeeds(t *testing.T) {
	var rounds [2][]uint64
	for i := range rounds {
		s := serve(t, engineFunc(func(ctx context.Context, r llama.Request, emit func(llama.Piece) error) (llama.Result, error) {
			rounds[i] = append(rounds[i], r.Sampling.Seed)
			return says(llama.FinishStop)(ctx, r, emit)
		}), api.Options{Sampling: llama.Sampling{Seed: 12}})
		for range 5 {
			post(t, s.URL, hello)
		}
	}
	if d := cmp.Diff(rounds[0], rounds[1]); d != "" || rounds[0][0] != 12 {
		t.Errorf("seeds are %v: %s", rounds[0], d)
	}
	seen := map[uint64]bool{}
	for _, seed := range rounds[0] {
		if seen[seed] {
			t.Errorf("seed %d comes twice", seed)
		}
		seen[seed] = true
	}
}

func TestRefusals(t *testing.T) {
	s := serve(t, says(llama.FinishStop, "x"), api.Options{})
	cases := map[string]struct {
		method, path, body string
		status             int
		param, code        string
	}{
		"Empty":       {"POST", "/v1/chat/completions", "", 400, "", openai.CodeInvalidJSON},
		"NotJSON":     {"POST", "/v1/chat/completions", "{", 400, "", openai.CodeInvalidJSON},
		"NotAnObject": {"POST", "/v1/chat/completions", "[1]", 400, "", openai.CodeInvalidType},
		"Null":        {"POST", "/v1/chat/completions", "null", 400, "", openai.CodeInvalidType},
		"NoMessages":  {"POST", "/v1/chat/completions", "{}", 400, "messages", openai.CodeMissing},
		"NullContent": {"POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":null}]}`, 400, "messages[0].content", openai.CodeMissing},
		"Image":       {"POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "messages[0].content[0].type", openai.CodeUnsupportedValue},
		"Temperature": {"POST", "/v1/chat/completions", with(`"temperature":"hot"`), 400, "temperature", openai.CodeInvalidType},
		"TopP":        {"POST", "/v1/chat/completions", with(`"top_p":2`), 400, "top_p", openai.CodeInvalidValue},
		"MaxTokens":   {"POST", "/v1/chat/completions", with(`"max_tokens":"5"`), 400, "max_tokens", openai.CodeInvalidType},
		"Tools":       {"POST", "/v1/chat/completions", with(`"tools":[{}]`), 400, "tools[0].type", openai.CodeUnsupportedValue},
		"Choices":     {"POST", "/v1/chat/completions", with(`"n":2`), 400, "n", openai.CodeUnsupportedValue},
		"TooLarge":    {"POST", "/v1/chat/completions", strings.Repeat(" ", 8<<20+1), 413, "", ""},
		"GetChat":     {"GET", "/v1/chat/completions", "", 405, "", ""},
		"PostModels":  {"POST", "/v1/models", "", 405, "", ""},
		"Root":        {"GET", "/", "", 404, "", ""},
		"Other":       {"POST", "/v1/completions", "{}", 404, "", ""},
		"Slash":       {"GET", "/v1/models/", "", 404, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequest(c.method, s.URL+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := waittest.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body := read(t, resp)
			var e openai.Error
			if err := json.Unmarshal([]byte(body), &e); err != nil {
				t.Fatalf("status %d, %v: %s", resp.StatusCode, err, body)
			}
			if resp.StatusCode != c.status || e.Param != c.param || e.Code != c.code || e.Message == "" || e.Type != openai.InvalidRequest {
				t.Errorf("status %d, %+v", resp.StatusCode, e)
			}
		})
	}
}

func TestOptionsAndModels(t *testing.T) {
	s := serve(t, says(llama.FinishStop), api.Options{Model: "m.m", Created: time.Unix(1234, 5)})
	req, err := http.NewRequest(http.MethodOptions, s.URL+"/anything", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := waittest.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	read(t, resp)
	if resp.StatusCode != http.StatusNoContent || resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("status %d, header %v", resp.StatusCode, resp.Header)
	}
	resp, err = waittest.Client().Get(s.URL + "/v1/models?x=y")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"object":"list","data":[{"id":"m.m","object":"model","created":1234,"owned_by":"user"}]}`
	if d := cmp.Diff(want, read(t, resp)); d != "" {
		t.Error(d)
	}
}

// A page that guesses the port neither reads answers nor makes the engine work,
// even if its name resolves to the engine's address.
func TestWebPagesAreRefused(t *testing.T) {
	s := serve(t, engineFunc(func(context.Context, llama.Request, func(llama.Piece) error) (llama.Result, error) {
		t.Error("the engine works for a web page")
		return llama.Result{}, nil
	}), api.Options{})
	for name, c := range map[string]struct{ method, path, contentType, origin string }{
		"Preflight":         {http.MethodOptions, "/v1/chat/completions", "", "https://page.example"},
		"Chat":              {http.MethodPost, "/v1/chat/completions", "application/json", "https://page.example"},
		"NoPreflightNeeded": {http.MethodPost, "/v1/chat/completions", "text/plain", "https://page.example"},
		"File":              {http.MethodPost, "/v1/chat/completions", "text/plain", "null"},
		"Rebound":           {http.MethodPost, "/v1/chat/completions", "application/json", s.URL},
		"Models":            {http.MethodGet, "/v1/models", "", "https://page.example"},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequest(c.method, s.URL+c.path, strings.NewReader(hello))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", c.contentType)
			req.Header.Set("Origin", c.origin)
			resp, err := waittest.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body := read(t, resp)
			if resp.StatusCode != http.StatusForbidden || resp.Header.Get("Access-Control-Allow-Origin") != "" || !strings.Contains(body, "use the gateway") {
				t.Errorf("status %d, header %v, body %s", resp.StatusCode, resp.Header, body)
			}
		})
	}
}

func TestEngineErrors(t *testing.T) {
	cases := map[string]struct {
		err    error
		status int
		kind   openai.ErrorType
		code   string
	}{
		"TooLong":     {fault.As(fault.Invalid, &llama.TooLongError{Tokens: 9, SeqLen: 8}), 400, openai.InvalidRequest, openai.CodeContextLength},
		"Unsupported": {fault.Errorf(fault.Unsupported, "no template"), 400, openai.InvalidRequest, openai.CodeInvalidValue},
		"Closed":      {llama.ErrClosed, 503, openai.ServerError, ""},
		"Corrupt":     {fault.Errorf(fault.Corrupt, "no numbers"), 500, openai.ServerError, ""},
		"Unknown":     {errors.New("oh"), 500, openai.ServerError, ""},
	}
	for name, c := range cases {
		for _, stream := range []string{"false", "true"} {
			t.Run(name+"Stream"+stream, func(t *testing.T) {
				s := serve(t, engineFunc(func(context.Context, llama.Request, func(llama.Piece) error) (llama.Result, error) {
					return llama.Result{}, c.err
				}), api.Options{})
				resp, body := post(t, s.URL, with(`"stream":`+stream))
				var e openai.Error
				if err := json.Unmarshal([]byte(body), &e); err != nil {
					t.Fatal(err)
				}
				if resp.StatusCode != c.status || e.Type != c.kind || e.Code != c.code || (resp.Header.Get("Retry-After") != "") != (c.status == 503) {
					t.Errorf("status %d, %+v", resp.StatusCode, e)
				}
			})
		}
	}
}

func TestErrorInsideStream(t *testing.T) {
	s := serve(t, engineFunc(func(_ context.Context, _ llama.Request, emit func(llama.Piece) error) (llama.Result, error) {
		return llama.Result{}, errors.Join(emit(llama.Piece{}), emit(llama.Piece{Text: "Hel", Tokens: 1}), errors.New("the roof fell in"))
	}), api.Options{})
	_, body := post(t, s.URL, with(`"stream":true`))
	events := strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n")
	if last := events[len(events)-1]; len(events) != 3 || !strings.HasPrefix(last, `data: {"error":{"message":"the roof fell in","type":"server_error"`) {
		t.Errorf("the stream is %s", body)
	}
}
