package openai

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLogprobsOfCompletions(t *testing.T) {
	for field, want := range map[string][2]string{
		`"logprobs":0`: {"true", ""}, `"logprobs":3`: {"true", "3"}, `"logprobs":null`: {}, `"logprobs":false`: {},
	} {
		r, err := ParseCompletion([]byte(`{"model":"m","prompt":"x",` + field + `}`))
		if err != nil {
			t.Fatalf("%s: %v", field, err)
		}
		if got := [2]string{string(r.Featured["logprobs"]), string(r.Featured["top_logprobs"])}; got != want {
			t.Errorf("%s became %q, want %q", field, got, want)
		}
		body, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ParseChat(body); err != nil || features(back.Needs) != features(r.Needs) {
			t.Errorf("%s: the queued form %s needs %q, want %q, err = %v", field, body, features(back.Needs), features(r.Needs), err)
		}
	}
}

func TestTopLogprobsNeedLogprobs(t *testing.T) {
	_, err := ParseChat([]byte(`{"model":"m","messages":[{"role":"user","content":"x"}],"top_logprobs":2}`))
	var e *Error
	if !errors.As(err, &e) || e.Param != "top_logprobs" || e.Code != CodeInvalidValue {
		t.Errorf("err = %v", err)
	}
}

// The second and third token are one character together.
func logprobsOfAnswer() *Logprobs {
	l := &Logprobs{}
	l.Add(NewTokenLogprob("Gr", -.5).With([]TokenLogprob{NewTokenLogprob("Gr", -.5), NewTokenLogprob("gr", math.Inf(-1))}))
	l.Add(NewTokenLogprob("\xc3", -1).With(nil))
	l.Add(NewTokenLogprob("\xbc", -2).With(nil))
	l.Add(NewTokenLogprob("\u00dfe", -3).With(nil))
	return l
}

func TestTokenLogprob(t *testing.T) {
	l := logprobsOfAnswer()
	if got, want := string(l.Content[0]), `{"token":"Gr","logprob":-0.5,"bytes":[71,114],"top_logprobs":[{"token":"Gr","logprob":-0.5,"bytes":[71,114]},{"token":"gr","logprob":-9999,"bytes":[103,114]}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := string(l.Content[1]), `{"token":"`+"\ufffd"+`","logprob":-1,"bytes":[195],"top_logprobs":[]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var text []byte
	for _, raw := range l.Content {
		var entry TokenLogprob
		if err := json.Unmarshal(raw, &entry); err != nil {
			t.Fatal(err)
		}
		text = append(text, entry.text()...)
	}
	if string(text) != "Gr\u00fc\u00dfe" {
		t.Errorf("the bytes together are %q", text)
	}
}

func TestCompletionLogprobs(t *testing.T) {
	var whole textOffset
	got := whole.completion(logprobsOfAnswer())
	if d := cmp.Diff([]int{0, 2, 2, 3}, got.TextOffset); d != "" {
		t.Errorf("offsets (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"Gr", "\ufffd", "\ufffd", "\u00dfe"}, got.Tokens); d != "" {
		t.Errorf("tokens (-want +got):\n%s", d)
	}
	if p := got.TopLogprobs[0]["gr"]; p == nil || *p != leastLogprob || *got.TokenLogprobs[3] != -3 {
		t.Errorf("got %+v", got)
	}
	// The form of completions, read from a server, is that of chats.
	back := got.Content()
	var first, second TokenLogprob
	if len(back.Content) != 4 || json.Unmarshal(back.Content[0], &first) != nil || json.Unmarshal(back.Content[3], &second) != nil {
		t.Fatalf("read back: %s", back.Content)
	}
	if first.Token != "Gr" || len(*first.TopLogprobs) != 2 || (*first.TopLogprobs)[0].Token != "Gr" || second.Logprob != -3 {
		t.Errorf("read back: %+v, %+v", first, second)
	}
	if short := (CompletionLogprobs{Tokens: []string{"a", "b"}, TokenLogprobs: []*float64{nil}}).Content(); len(short.Content) != 0 {
		t.Errorf("tokens without probabilities: %s", short.Content)
	}
}

func TestTextStreamLogprobs(t *testing.T) {
	s := NewTextStream(StreamOptions{ID: "cmpl-1", Model: "a/b", Created: 7})
	l := logprobsOfAnswer()
	b := s.Parts(nil, "Gr", &Parts{Logprobs: &Logprobs{Content: l.Content[:1]}})
	b = s.Parts(b, "", &Parts{Refusal: "no"})
	b = s.Parts(b, "\u00fc", &Parts{Logprobs: &Logprobs{Content: l.Content[1:3]}})
	const head = `data: {"id":"cmpl-1","object":"text_completion","created":7,"model":"a/b","choices":[`
	want := head + `{"text":"Gr","index":0,"logprobs":{"tokens":["Gr"],"token_logprobs":[-0.5],"top_logprobs":[{"Gr":-0.5,"gr":-9999}],"text_offset":[0]},"finish_reason":null}]}` + "\n\n" +
		head + `{"text":"` + "\u00fc" + `","index":0,"logprobs":{"tokens":["` + "\ufffd\",\"\ufffd" + `"],"token_logprobs":[-1,-2],"top_logprobs":[{},{}],"text_offset":[2,2]},"finish_reason":null}]}` + "\n\n"
	if d := cmp.Diff(want, string(b)); d != "" {
		t.Error(d)
	}
}
