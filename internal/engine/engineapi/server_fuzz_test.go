package engineapi

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzServerStream feeds a stream of any bytes. Whatever comes of it is valid, and
// the calls of tools count up.
func FuzzServerStream(f *testing.F) {
	for _, seed := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\",\"reasoning\":\"b\"}}]}\n\ndata: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]",
		": ping\r\n\r\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\r\n\r\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":{}}},{\"function\":{\"name\":\"g\"}}]}}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"logprobs\":{\"content\":[{}]}}]}\n\n",
		"data: {\"error\":{\"message\":\"x\",\"code\":503}}\n\n", "data: {\"error\":\"x\"}\n\n", "data: null\n\n", "data: []", "\xff",
	} {
		f.Add([]byte(seed))
	}
	server, err := NewServer(ServerConfig{URL: "http://a/v1", Model: "m"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		calls := 0
		a := answer{server: server, silence: newSilence(0, func() {})}
		a.onText = func(d Delta) error {
			if d.Text == "" && d.Parts == nil || !utf8.ValidString(d.Text) {
				t.Errorf("a piece of %q", d.Text)
			}
			if d.Parts == nil {
				return nil
			}
			if _, err := json.Marshal(d.Parts); err != nil {
				t.Errorf("parts cannot be sent: %v", err)
			}
			for _, c := range d.Parts.ToolCalls {
				if c.Index > calls || c.Index == calls && (c.ID == "" || c.Type == "") {
					t.Errorf("call %d after %d: %+v", c.Index, calls, c)
				}
				calls = max(calls, c.Index+1)
			}
			return nil
		}
		if err := a.events(bytes.NewReader(stream)); err == nil && a.result.FinishReason == "" {
			t.Error("a whole answer does not say why it ended")
		}
	})
}

// BenchmarkServerStream reads 1,000 pieces.
func BenchmarkServerStream(b *testing.B) {
	server, err := NewServer(ServerConfig{URL: "http://a/v1", Model: "m"})
	if err != nil {
		b.Fatal(err)
	}
	pieces := map[string]string{
		"Text":     `{"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}`,
		"ToolCall": `{"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"word"}}]},"finish_reason":null}]}`,
	}
	for name, piece := range pieces {
		stream := append(bytes.Repeat([]byte("data: "+piece+"\n\n"), 1000), "data: [DONE]\n\n"...)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a := answer{server: server, silence: newSilence(0, func() {}), onText: func(Delta) error { return nil }}
				if err := a.events(bytes.NewReader(stream)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
