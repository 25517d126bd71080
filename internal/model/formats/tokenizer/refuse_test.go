package tokenizer_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
)

const (
	fastConfig = `{"tokenizer_class":"PreTrainedTokenizerFast"}`
	smallJSON  = `{"added_tokens":[{"id":2,"content":"<s>"},{"id":3,"content":"</s>"}],"model":{"type":"BPE","vocab":{"a":0,"b":1}}}`
	ends       = `{"bos_token_id":2,"eos_token_id":[3]}`
)

func TestHuggingFaceChoices(t *testing.T) {
	cases := map[string]struct {
		config   string
		jinja    string
		template string
		addBOS   bool
	}{
		"Bare":          {config: fastConfig, addBOS: true},
		"NoBOS":         {config: `{"tokenizer_class":"LlamaTokenizerFast","add_bos_token":false}`},
		"NullBOS":       {config: `{"tokenizer_class":"Qwen2Tokenizer","add_bos_token":null}`},
		"OneBOS":        {config: `{"tokenizer_class":"Qwen2Tokenizer","add_bos_token":1}`, addBOS: true},
		"Template":      {config: `{"tokenizer_class":"PreTrainedTokenizer","chat_template":"{{ a }}"}`, jinja: "other", template: "other", addBOS: true},
		"EmptyTemplate": {config: `{"tokenizer_class":"PreTrainedTokenizer","chat_template":""}`, jinja: "other", template: "other", addBOS: true},
		"Named":         {config: `{"tokenizer_class":"PreTrainedTokenizer","chat_template":[{"name":"tool","template":"t"},{"name":"default","template":"d"}]}`, template: "d", addBOS: true},
		"Jinja":         {config: fastConfig, jinja: "{{ j }}", template: "{{ j }}", addBOS: true},
		"SlowWithJSON":  {config: `{"tokenizer_class":"LlamaTokenizer"}`, addBOS: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in := tokenizer.Files{Config: []byte(ends), TokenizerConfig: []byte(c.config), TokenizerJSON: []byte(smallJSON)}
			if c.jinja != "" {
				in.ChatTemplate = []byte(c.jinja)
			}
			got, err := tokenizer.FromHuggingFace(in)
			if err != nil {
				t.Fatal(err)
			}
			want := tokenizer.File{
				Tokens: []tokenizer.Token{{Text: "a", Score: float32(math.Copysign(0, -1))}, {Text: "b", Score: -1}, {Text: "<s>", Score: -2}, {Text: "</s>", Score: -3}},
				BOS:    2, EOS: []int{3}, AddBOS: c.addBOS, ChatTemplate: c.template,
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("file (-want +got):\n%s", d)
			}
		})
	}
}

func TestByteLevel(t *testing.T) {
	in := tokenizer.Files{
		Config: []byte(`{"bos_token_id":0,"eos_token_id":0}`), TokenizerConfig: []byte(fastConfig),
		TokenizerJSON: []byte(`{"added_tokens":[{"id":0,"content":"<a b>"}],"model":{"type":"BPE","vocab":{"Ġhi":1,"Ċ":2,"Ã¼":3,"▁x":4,"Ń":5,"ġ":6,"Ł":7,"日":8}}}`),
	}
	f, err := tokenizer.FromHuggingFace(in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tok := range f.Tokens {
		got = append(got, tok.Text)
	}
	want := []string{"<a b>", " hi", "\n", "ü", "▁x", "\xad", "\x7f", "\x9f", "日"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("tokens (-want +got):\n%s", d)
	}
}

func TestHuggingFaceRefuses(t *testing.T) {
	cases := map[string]struct {
		config, tc, tj string // "" means that the file does not exist
		kind           fault.Kind
		want           string
	}{
		"NoConfig":      {"", fastConfig, smallJSON, fault.NotFound, "no config.json"},
		"NoTokenizer":   {ends, "", smallJSON, fault.NotFound, "no tokenizer_config.json"},
		"NoJSON":        {ends, fastConfig, "", fault.NotFound, "no tokenizer.json"},
		"NoModel":       {ends, `{"tokenizer_class":"LlamaTokenizer"}`, "", fault.NotFound, "no tokenizer.json or tokenizer.model"},
		"NotJSON":       {ends, `<html>`, smallJSON, fault.Invalid, "tokenizer_config.json: invalid character"},
		"BrokenJSON":    {ends, fastConfig, `{"model":`, fault.Invalid, "tokenizer.json: unexpected end"},
		"Unigram":       {ends, fastConfig, `{"model":{"type":"Unigram","vocab":[["a",0]]}}`, fault.Unsupported, `model.type is "Unigram"`},
		"NoVocab":       {ends, fastConfig, `{"model":{"type":"BPE"}}`, fault.Invalid, "model.vocab"},
		"EmptyVocab":    {ends, fastConfig, `{"model":{"type":"BPE","vocab":{}}}`, fault.Invalid, "no tokens"},
		"Gap":           {ends, fastConfig, `{"model":{"type":"BPE","vocab":{"a":0,"b":2}}}`, fault.Invalid, `token "b" has id 2, want 0 to 1`},
		"Negative":      {ends, fastConfig, `{"model":{"type":"BPE","vocab":{"a":-1}}}`, fault.Invalid, `token "a" has id -1`},
		"Twice":         {ends, fastConfig, `{"model":{"type":"BPE","vocab":{"a":0,"b":0}}}`, fault.Invalid, `tokens "a" and "b" both have id 0`},
		"EmptyToken":    {ends, fastConfig, `{"model":{"type":"BPE","vocab":{"":0}}}`, fault.Invalid, "token 0 is empty"},
		"AddedNoID":     {ends, fastConfig, `{"added_tokens":[{"content":"x"}],"model":{"vocab":{"a":0}}}`, fault.Invalid, `added_tokens[0] "x" has no id`},
		"AddedOther":    {ends, fastConfig, `{"added_tokens":[{"id":1,"content":"a"}],"model":{"vocab":{"a":0}}}`, fault.Invalid, `token "a" has id 0 in model.vocab and 1 in added_tokens`},
		"NoBOS":         {`{"eos_token_id":3}`, fastConfig, smallJSON, fault.Invalid, "bos_token_id is missing"},
		"NullBOS":       {`{"bos_token_id":null,"eos_token_id":3}`, fastConfig, smallJSON, fault.Invalid, "bos_token_id is missing"},
		"NoEOS":         {`{"bos_token_id":2}`, fastConfig, smallJSON, fault.Invalid, "eos_token_id is missing"},
		"EmptyEOS":      {`{"bos_token_id":2,"eos_token_id":[]}`, fastConfig, smallJSON, fault.Invalid, "0 eos ids"},
		"TextEOS":       {`{"bos_token_id":2,"eos_token_id":"3"}`, fastConfig, smallJSON, fault.Invalid, "eos_token_id is neither"},
		"OutsideEOS":    {`{"bos_token_id":2,"eos_token_id":9}`, fastConfig, smallJSON, fault.Invalid, "eos id is 9, the vocabulary has 4"},
		"TemplateKind":  {ends, `{"tokenizer_class":"Qwen2Tokenizer","chat_template":5}`, smallJSON, fault.Unsupported, "chat_template is neither"},
		"TemplateNames": {ends, `{"tokenizer_class":"Qwen2Tokenizer","chat_template":[{"name":"x","template":"y"}]}`, smallJSON, fault.Unsupported, "lists 1 templates"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			present := func(s string) []byte {
				if s == "" {
					return nil
				}
				return []byte(s)
			}
			_, err := tokenizer.FromHuggingFace(tokenizer.Files{Config: present(c.config), TokenizerConfig: present(c.tc), TokenizerJSON: present(c.tj)})
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v (%s), want a %s one with %q", err, fault.KindOf(err), c.kind, c.want)
			}
		})
	}
}

// message returns one bytes field of a protocol buffer.
func message(num int, body ...byte) []byte {
	out := binary.AppendUvarint(nil, uint64(num)<<3|2)
	return append(binary.AppendUvarint(out, uint64(len(body))), body...)
}

// pieceOf returns a piece of a SentencePiece model.
func pieceOf(text string, score float32, kind byte) []byte {
	body := message(1, []byte(text)...)
	body = binary.LittleEndian.AppendUint32(append(body, 2<<3|5), math.Float32bits(score))
	return message(1, append(body, 3<<3, kind)...)
}

func sentencePiece(raw []byte) tokenizer.Files {
	return tokenizer.Files{TokenizerConfig: []byte(`{"tokenizer_class":"LlamaTokenizer"}`), SentencePiece: raw}
}

func TestSentencePiece(t *testing.T) {
	pieces := bytes.Join([][]byte{pieceOf("<unk>", 0, 2), pieceOf("[B]", 0, 3), pieceOf("[E]", 0, 3), pieceOf("<0x0A>", 0, 6), pieceOf("▁a▁", -1.5, 1), pieceOf("<0xZZ>", 0, 1)}, nil)
	trainer := message(2, append(message(46, '[', 'B', ']'), message(47, '[', 'E', ']')...)...)
	other := append(binary.AppendUvarint(nil, 9<<3), 1) // an unknown field
	f, err := tokenizer.FromHuggingFace(sentencePiece(bytes.Join([][]byte{pieces, other, trainer}, nil)))
	if err != nil {
		t.Fatal(err)
	}
	want := tokenizer.File{
		Tokens: []tokenizer.Token{{Text: "<unk>"}, {Text: "[B]"}, {Text: "[E]"}, {Text: "\n"}, {Text: " a ", Score: -1.5}, {Text: "<0xZZ>"}},
		BOS:    1, EOS: []int{2}, AddBOS: true,
	}
	if d := cmp.Diff(want, f); d != "" {
		t.Errorf("file (-want +got):\n%s", d)
	}
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"Empty":      {[]byte{}, "0 pieces"},
		"NoBOS":      {pieces, `control piece "<s>"`},
		"NotControl": {append(pieceOf("<s>", 0, 1), pieceOf("</s>", 0, 3)...), `control piece "<s>"`},
		"NoText":     {message(1, 3<<3, 1), "piece 0: it has no text"},
		"Cut":        {pieces[:len(pieces)-1], "truncated"},
		"Long":       {[]byte{1<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, "truncated"},
		"Garbage":    {[]byte("<html>"), "tokenizer.model"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := tokenizer.FromHuggingFace(sentencePiece(c.raw)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want an Invalid one with %q", err, c.want)
			}
		})
	}
}

func FuzzFromHuggingFace(f *testing.F) {
	f.Add([]byte(ends), []byte(fastConfig), []byte(smallJSON), []byte{})
	f.Add([]byte(ends), []byte(`{"tokenizer_class":"LlamaTokenizer"}`), []byte{}, append(pieceOf("<s>", 0, 3), pieceOf("</s>", 0, 3)...))
	f.Fuzz(func(t *testing.T, config, tc, tj, sp []byte) {
		in := tokenizer.Files{Config: config, TokenizerConfig: tc, TokenizerJSON: tj}
		if len(sp) > 0 {
			in.SentencePiece = sp
		}
		file, err := tokenizer.FromHuggingFace(in)
		if err != nil {
			return
		}
		if _, err := tokenizer.Read(bytes.NewReader(encode(t, file))); err != nil {
			t.Errorf("what was converted cannot be read: %v", err)
		}
	})
}
