package openai

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestThinkFilter(t *testing.T) {
	cases := map[string]struct{ text, thoughts, answer string }{
		"None":         {"hello <think>x</think>", "", "hello <think>x</think>"},
		"Empty":        {"", "", ""},
		"Space":        {" \n", "", " \n"},
		"Indented":     {"  code", "", "  code"},
		"Usual":        {"<think>\nHm, 2.\n</think>\n\nTwo\n.", "Hm, 2.\n", "Two\n."},
		"SpaceBefore":  {"\n <think>a</think>b", "a", "b"},
		"NoThoughts":   {"<think>\n\n</think>\n\nTwo", "", "Two"},
		"Unfinished":   {"<think>\na b </thin", "a b </thin", ""},
		"OnlyOpening":  {"<think>\n", "", ""},
		"HalfATag":     {"<thi", "", "<thi"},
		"OtherTag":     {"<thin>x", "", "<thin>x"},
		"Lookalike":    {"<think>a</thi</think></think>b", "a</thi", "</think>b"},
		"NothingAfter": {"<think>a</think>", "a", ""},
		"ClosingOnly":  {"hmm\n</think>\n\nanswer", "hmm\n", "answer"},
		"ClosingFirst": {"</think>\n\nanswer", "", "answer"},
		"ClosingLate":  {"a </think>\n</thin\nb\n</think>c\n</think>", "a </think>\n</thin\nb\n", "c\n</think>"},
		"WithinALine":  {"the tag </think> ends it", "", "the tag </think> ends it"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(c.text)+1; size++ {
				thoughts, answer := filtered(c.text, size)
				if thoughts != c.thoughts || answer != c.answer {
					t.Errorf("in pieces of %d: thoughts %q, answer %q; want %q, %q", size, thoughts, answer, c.thoughts, c.answer)
				}
			}
		})
	}
}

func filtered(text string, size int) (thoughts, answer string) {
	var f ThinkFilter
	add := func(a, b string) {
		if f.Misplaced() {
			thoughts, answer = thoughts+answer, ""
		}
		thoughts, answer = thoughts+a, answer+b
	}
	for len(text) > size {
		add(f.Push(text[:size]))
		text = text[size:]
	}
	add(f.Push(text))
	add(f.Rest())
	return thoughts, answer
}

func FuzzThinkFilter(f *testing.F) {
	f.Add("<think>a</think>\n\nb", uint8(3))
	f.Add(" \n<think", uint8(1))
	f.Add("a\n</think>\nb\n</think>", uint8(2))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		thoughts, answer := filtered(text, int(size)+1)
		wholeThoughts, wholeAnswer := filtered(text, len(text)+1)
		if thoughts != wholeThoughts || answer != wholeAnswer {
			t.Errorf("%q in pieces of %d: %q %q, at once: %q %q", text, int(size)+1, thoughts, answer, wholeThoughts, wholeAnswer)
		}
	})
}

func TestReasoningOfARequest(t *testing.T) {
	cases := map[string]struct {
		fields string
		want   Reasoning
	}{
		"None":          {`"x":1`, ReasoningUnset},
		"Null":          {`"separate_reasoning":null,"include_reasoning":null`, ReasoningUnset},
		"Separate":      {`"separate_reasoning":true`, ReasoningSeparate},
		"Inline":        {`"separate_reasoning":false`, ReasoningInline},
		"Included":      {`"include_reasoning":true`, ReasoningSeparate},
		"Hidden":        {`"include_reasoning":false`, ReasoningHidden},
		"HiddenAnyway":  {`"separate_reasoning":true,"include_reasoning":false`, ReasoningHidden},
		"InlineAlready": {`"separate_reasoning":false,"include_reasoning":true`, ReasoningInline},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := ParseChat([]byte(`{"model":"m",` + hello + `,` + c.fields + `}`))
			if err != nil || r.Reasoning != c.want {
				t.Errorf("got %q, %v; want %q", r.Reasoning, err, c.want)
			}
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			back, err := ParseChat(b)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(r, back); d != "" {
				t.Error(d)
			}
		})
	}
	if _, err := ParseChat([]byte(`{"model":"m",` + hello + `,"separate_reasoning":1}`)); err == nil {
		t.Error("a number passes")
	}
}
