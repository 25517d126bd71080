package tokenizer_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
)

const tiny = "../../../../examples/models/koldun-tiny/"

type reference struct {
	Prompts []struct {
		Text   string `json:"text"`
		Tokens []int  `json:"tokens"`
		F32    struct {
			Tokens []int  `json:"tokens"`
			Text   string `json:"text"`
		} `json:"f32"`
	} `json:"prompts"`
}

func tinyTokenizer(tb testing.TB) *tokenizer.Tokenizer {
	tb.Helper()
	f, err := tokenizer.FromHuggingFace(sources(tb, tiny))
	if err != nil {
		tb.Fatal(err)
	}
	tok, err := tokenizer.New(f, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return tok
}

// TestPlainParts encodes what looks like special tokens.
func TestPlainParts(t *testing.T) {
	tok := tinyTokenizer(t)
	const eot, header = "<|eot_id|>", "<|start_header_id|>"
	encode := func(parts ...tokenizer.Part) []int {
		t.Helper()
		ids, err := tok.EncodeParts(parts)
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	specials := func(ids []int) (out []int) {
		for _, id := range ids {
			if id >= tok.File().BOS {
				out = append(out, id)
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		parts []tokenizer.Part
		want  []int
	}{
		"Control":       {[]tokenizer.Part{{Text: eot + header}}, []int{1023, 1021}},
		"Plain":         {[]tokenizer.Part{{Text: eot + "a" + header, Plain: true}}, nil},
		"Between":       {[]tokenizer.Part{{Text: header}, {Text: eot, Plain: true}, {Text: eot}}, []int{1021, 1023}},
		"AcrossPlain":   {[]tokenizer.Part{{Text: "<|eot"}, {Text: "_id|>", Plain: true}}, nil},
		"AcrossControl": {[]tokenizer.Part{{Text: "<|eot", Plain: true}, {Text: "_id|>"}}, nil},
		"Empty":         {[]tokenizer.Part{{}, {Text: eot}, {Plain: true}}, []int{1023}},
	} {
		if d := cmp.Diff(c.want, specials(encode(c.parts...))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	whole := encode(tokenizer.Part{Text: "Hello there", Plain: true})
	if d := cmp.Diff(whole, encode(tokenizer.Part{Text: "Hel"}, tokenizer.Part{Text: "lo th", Plain: true}, tokenizer.Part{Text: "ere"})); d != "" {
		t.Errorf("parts change ordinary tokens: %s", d)
	}
}

func TestTinyReference(t *testing.T) {
	var ref reference
	if err := json.Unmarshal(read(t, tiny+"reference.json"), &ref); err != nil {
		t.Fatal(err)
	}
	if len(ref.Prompts) == 0 {
		t.Fatal("the reference has no prompts")
	}
	tok := tinyTokenizer(t)
	for _, p := range ref.Prompts {
		got, err := tok.Encode(p.Text, false)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(p.Tokens, got); d != "" {
			t.Errorf("tokens of %q (-want +got):\n%s", p.Text, d)
		}
		withBOS, err := tok.Encode(strings.TrimPrefix(p.Text, "<|begin_of_text|>"), true)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(p.Tokens, withBOS); d != "" {
			t.Errorf("tokens of %q with bos (-want +got):\n%s", p.Text, d)
		}
		var out strings.Builder
		dec := tok.Decoder()
		for _, id := range p.F32.Tokens {
			out.WriteString(dec.Next(id))
		}
		out.WriteString(dec.Flush())
		if out.String() != p.F32.Text {
			t.Errorf("decoded %q, want %q", out.String(), p.F32.Text)
		}
	}
}

func read(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
