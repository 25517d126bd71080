package openai

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDecode(t *testing.T) {
	temperature, topP, seed := 0.5, 0.25, int64(7)
	sampling := Sampling{Temperature: &temperature, TopP: &topP, Seed: &seed}
	cases := map[string]struct {
		decode func([]byte) (Request, error)
		body   string
		want   Request
	}{
		"Chat": {
			DecodeChat,
			`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"hello"},{"role":"assistant","content":"a"}],
			"stream":true,"stream_options":{"include_usage":true},"separate_reasoning":false,"max_tokens":9,"stop":["x"],
			"temperature":0.5,"top_p":0.25,"seed":7,"verbosity":"low","mirostat":1}`,
			Request{
				Operation: OperationChat, Model: "m", Stream: true, IncludeUsage: true, Reasoning: ReasoningInline, PromptTokens: 16, MaxTokens: 9,
				Opening:  []Message{{Role: System, Content: "s"}, {Role: User, Content: "hello"}},
				Sampling: sampling, Stop: []string{"x"}, Ignored: []string{"mirostat", "verbosity"},
			},
		},
		"Completion": {
			DecodeCompletion,
			`{"model":"m","prompt":"hello","temperature":0.5,"top_p":0.25,"seed":7}`,
			Request{
				Operation: OperationCompletion, Model: "m", PromptTokens: 6, MaxTokens: defaultCompletionTokens,
				Opening: []Message{{Role: User, Content: "hello"}}, Sampling: sampling,
			},
		},
		"NoMessageOfAUser": {
			DecodeChat, `{"model":"m","messages":[{"role":"system","content":"s"}]}`,
			Request{Operation: OperationChat, Model: "m", PromptTokens: 5, Opening: []Message{{Role: System, Content: "s"}}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := c.decode([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(Request{}), cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
			body, err := got.Body("ns/m", 0)
			if err != nil {
				t.Fatal(err)
			}
			again, err := DecodeChat(body) // the normal form of both
			if err != nil {
				t.Fatal(err)
			}
			c.want.Model, c.want.Operation = "ns/m", OperationChat
			if d := cmp.Diff(c.want, again, cmpopts.IgnoreUnexported(Request{}), cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		})
	}
	for name, decode := range map[string]func([]byte) (Request, error){"Chat": DecodeChat, "Completion": DecodeCompletion} {
		if _, err := decode([]byte(`{}`)); err == nil {
			t.Errorf("%s: a request without a model passes", name)
		}
	}
}

func TestBodyIsTheNormalForm(t *testing.T) {
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"<x>"}],"seed":1}`)
	chat, err := ParseChat(body)
	if err != nil {
		t.Fatal(err)
	}
	chat.Model = "ns/m"
	want, err := chat.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	r, err := DecodeChat(body)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Body("ns/m", 0); err != nil || string(got) != string(want) {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestEstimateTokens(t *testing.T) {
	for want, messages := range map[int][]Message{
		0:  nil,
		4:  {{Role: User}},
		5:  {{Role: User, Content: "a"}},
		11: {{Role: User, Content: "abcd"}, {Role: Assistant, Content: "abcde"}},
	} {
		if got := EstimateTokens(messages); got != want {
			t.Errorf("%v: %d tokens, want %d", messages, got, want)
		}
	}
}

func TestOperations(t *testing.T) {
	if op := Operation("").OrChat(); op != OperationChat {
		t.Errorf("no operation is %q", op)
	}
	if op := OperationCompletion.OrChat(); op != OperationCompletion {
		t.Errorf("completion is %q", op)
	}
	if got := ParseOperations(" chat, ,rerank"); !slices.Equal(got, []Operation{OperationChat, "rerank"}) {
		t.Errorf("operations %q", got)
	}
	if got := ParseOperations(","); got != nil {
		t.Errorf("operations %q", got)
	}
	if got := DefaultOperations(); !slices.Equal(got, []Operation{"chat", "completion"}) {
		t.Errorf("default operations %q", got)
	}
}
