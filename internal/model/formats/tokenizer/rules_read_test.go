package tokenizer_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
)

func TestHostileRules(t *testing.T) {
	f := smallFile() // 4 tokens
	const head = `{"version": 1, "tokens": 4, "model": "merges", `
	long := `"` + strings.Repeat("x", 1<<16) + `"`
	for name, c := range map[string]struct{ raw, want string }{
		"Empty":              {"", "EOF"},
		"Cut":                {head + `"merges": [1, `, "EOF"},
		"NotRules":           {`{"version": "1.0", "added_tokens": []}`, "version"},
		"OtherFile":          {`{"version": 1, "added_tokens": []}`, "unknown field"},
		"Version":            {`{"version": 2}`, "version is 2"},
		"OtherTokenizer":     {`{"version": 1, "tokens": 5, "model": "scores"}`, "they are for 5 tokens"},
		"Model":              {`{"version": 1, "tokens": 4, "model": "words"}`, `model is "words"`},
		"HalfMerge":          {head + `"merges": [1]}`, "want pairs"},
		"MergeOutside":       {head + `"merges": [1, 4]}`, "has id 4"},
		"NegativeMerge":      {head + `"merges": [-1, 1]}`, "has id -1"},
		"MergeTooLarge":      {head + `"merges": [4294967296, 1]}`, "cannot unmarshal"},
		"MergeToNothing":     {head + `"merges": [1, 1]}`, "which is no token"},
		"ByteTokens":         {head + `"byteTokens": [1]}`, "1 byte tokens"},
		"ByteTokenOutside":   {head + `"byteTokens": [9` + strings.Repeat(",1", 255) + `]}`, "has id 9"},
		"Unknown":            {head + `"unknown": 7}`, "has id 7"},
		"TextOutside":        {head + `"texts": {"9": "a"}}`, "has id 9"},
		"TextEmpty":          {head + `"texts": {"1": ""}}`, "token 1 has 0 bytes"},
		"AddedOutside":       {head + `"added": [{"id": -2}]}`, "has id -2"},
		"AddedLong":          {head + `"added": [{"id": 1, "find": "x` + long[1:] + `}]}`, "added token 1 has 65537 bytes"},
		"Normalizer":         {head + `"normalizer": {"type": "Precompiled"}}`, `"Precompiled" is not supported`},
		"NormalizerKind":     {head + `"normalizer": 3}`, "normalizer"},
		"NormalizersNested":  {head + `"normalizer": ` + strings.Repeat(`{"type": "Sequence", "normalizers": [`, 20) + strings.Repeat("]}", 20) + `}`, "nested"},
		"PreTokenizer":       {head + `"preTokenizer": {"type": "BertPreTokenizer"}}`, "BertPreTokenizer"},
		"PreTokenizerNested": {head + `"preTokenizer": ` + strings.Repeat(`{"type": "Sequence", "pretokenizers": [`, 20) + strings.Repeat("]}", 20) + `}`, "nested"},
		"AfterByteLevel":     {head + `"preTokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}, {"type": "ByteLevel"}]}}`, "must be the last"},
		"Behavior":           {head + `"preTokenizer": {"type": "Split", "pattern": {"String": "x"}, "behavior": "x"}}`, `behavior is "x"`},
		"LongDefinition":     {head + `"normalizer": {"type": "Prepend", "prepend": ` + long + `}}`, "want at most 65536"},
		"LargeRegex":         {head + `"preTokenizer": {"type": "Split", "pattern": {"Regex": "((a{900}){900}){900}"}, "behavior": "Isolated"}}`, "repeat"},
		"Growth": {head + `"normalizer": {"type": "Sequence", "normalizers": [` +
			strings.Repeat(`{"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaa"},`, 9) + `{"type": "NFC"}]}}`, "times as long"},
	} {
		r, err := tokenizer.ReadRules(strings.NewReader(c.raw))
		if err == nil {
			_, err = tokenizer.New(f, r)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !fault.Final(err) {
			t.Errorf("%s: error is %v, want a final one with %q", name, err, c.want)
		}
	}
}

// FuzzRules reads damaged rules of each tokenizer and encodes a text with those
// that fit.
func FuzzRules(f *testing.F) {
	var files []tokenizer.File
	for _, in := range huggingFace(f) {
		file, err := tokenizer.FromHuggingFace(in)
		if err != nil {
			f.Fatal(err)
		}
		rules, err := tokenizer.RulesFromHuggingFace(in, file)
		if err != nil {
			f.Fatal(err)
		}
		rules.Merges = rules.Merges[:20] // so that what is left is changed more often
		raw, err := rules.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, len(files), "<s>Hello  it's 12345\n\n \u0301a\x00")
		files = append(files, file)
	}
	f.Fuzz(func(t *testing.T, raw []byte, which int, text string) {
		rules, err := tokenizer.ReadRules(bytes.NewReader(raw))
		if err != nil {
			return
		}
		file := files[uint(which)%uint(len(files))]
		tok, err := tokenizer.New(file, rules)
		if err != nil {
			if fault.Is(err, fault.Internal) {
				t.Fatalf("error without a kind: %v", err)
			}
			return
		}
		for _, plain := range []bool{false, true} {
			ids, err := tok.EncodeParts([]tokenizer.Part{{BOS: true}, {Text: text, Plain: plain}, {Text: text}})
			for _, id := range ids {
				if id < 0 || id >= len(file.Tokens) {
					t.Fatalf("token %d of %d", id, len(file.Tokens))
				}
			}
			if err == nil && (len(ids) == 0 || ids[0] != file.BOS) {
				t.Fatalf("tokens are %v, want them to begin with %d", ids, file.BOS)
			}
		}
	})
}
