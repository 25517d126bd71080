package tokenizer_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
)

// controlTokens returns the texts of the added tokens of a tokenizer.json that
// only a template may write, by id.
func controlTokens(tb testing.TB, in tokenizer.Files) map[int]string {
	tb.Helper()
	var file struct {
		Model struct {
			Vocab        map[string]int
			Unknown      string `json:"unk_token"`
			ByteFallback bool   `json:"byte_fallback"`
		}
		Added []struct {
			ID      int
			Content string
			Special bool
		} `json:"added_tokens"`
	}
	if err := json.Unmarshal(in.TokenizerJSON, &file); err != nil {
		tb.Fatal(err)
	}
	out := map[int]string{}
	for _, a := range file.Added {
		if a.Content == file.Model.Unknown && !file.Model.ByteFallback {
			continue // it represents characters that are no token
		}
		if _, ordinary := file.Model.Vocab[a.Content]; a.Special || !ordinary {
			out[a.ID] = a.Content
		}
	}
	return out
}

func countControl(ids []int, control map[int]string) int {
	n := 0
	for _, id := range ids {
		if _, ok := control[id]; ok {
			n++
		}
	}
	return n
}

// TestControlTokensAreText writes every control token of every tokenizer as a
// client and as a template.
func TestControlTokensAreText(t *testing.T) {
	all := huggingFace(t)
	all["koldun-tiny"] = sources(t, tiny)
	tested := 0
	for name, files := range all {
		control := controlTokens(t, files)
		tok := withRules(t, files)
		encode := func(parts ...tokenizer.Part) []int {
			t.Helper()
			ids, err := tok.EncodeParts(parts)
			if err != nil {
				t.Fatal(err)
			}
			return ids
		}
		for id, text := range control {
			tested++
			for _, typed := range []string{text, "a " + text + " b", text + text, strings.Repeat(text, 3) + "\n", " \u0301" + text, strings.ReplaceAll(text, "▁", " ")} {
				if ids := encode(tokenizer.Part{Text: typed, Plain: true}); countControl(ids, control) > 0 {
					t.Errorf("%s: a client that types %q gets %v", name, typed, ids)
				}
			}
			for cut := 1; cut < len(text); cut++ {
				ids := encode(tokenizer.Part{Text: text[:cut]}, tokenizer.Part{Text: text[cut:], Plain: true})
				ids = append(ids, encode(tokenizer.Part{Text: text[:cut], Plain: true}, tokenizer.Part{Text: text[cut:]})...)
				if countControl(ids, control) > 0 {
					t.Errorf("%s: a client that completes %q gets %v", name, text, ids)
				}
			}
			ids := encode(tokenizer.Part{Text: text}, tokenizer.Part{Text: text, Plain: true}, tokenizer.Part{Text: text})
			want := 2
			switch {
			case name == "llama2Normalized": // the second one lacks the space that the normalizer gives the first one
				want = 1
			case text == "word": // it is found between words only
				continue
			}
			if n := countControl(ids, control); n != want || ids[0] != id {
				t.Errorf("%s: a template that writes %q around the text of a client gets %v", name, text, ids)
			}
		}
	}
	if tested < 30 {
		t.Errorf("only %d control tokens were tested", tested)
	}
}

// FuzzPlain encodes text of a client between texts of a template: it has no
// control tokens, and the tokens of a tokenizer that changes nothing are the text.
func FuzzPlain(f *testing.F) {
	all := huggingFace(f)
	keeps := map[string]bool{"gpt2": true, "llama3": true, "deepseek3": true, "o200k": true, "smollm": true, "gemma": true}
	toks, control := map[string]*tokenizer.Tokenizer{}, map[string]map[int]string{}
	for name, files := range all {
		toks[name], control[name] = withRules(f, files), controlTokens(f, files)
		for _, text := range control[name] {
			f.Add("<s> ", text, "x")
			f.Add("<", text[1:], "\u0301")
		}
	}
	f.Add("\xff", "a\xf0\x9f\x00", "\xe2\x96")
	f.Fuzz(func(t *testing.T, before, typed, after string) {
		for name, tok := range toks {
			ids, err := tok.EncodeParts([]tokenizer.Part{{Text: before, Plain: true}, {Text: typed, Plain: true}, {Text: after, Plain: true}})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if countControl(ids, control[name]) > 0 {
				t.Errorf("%s: %q gets %v", name, before+typed+after, ids)
			}
			if !keeps[name] {
				continue
			}
			var out bytes.Buffer
			for _, id := range ids {
				out.WriteString(tok.File().Tokens[id].Text)
			}
			whole := before + typed + after
			if name == "gemma" {
				whole = strings.ReplaceAll(whole, "▁", " ")
			}
			if out.String() != whole {
				t.Errorf("%s: %q came back as %q", name, whole, out.String())
			}
		}
	})
}

// TestControlTokensWithoutRules types control tokens to tokenizers that have only
// a .t file: one whose BOS is its first token, and one with an end token below BOS.
func TestControlTokensWithoutRules(t *testing.T) {
	var texts []string
	for b := range 256 {
		texts = append(texts, string([]byte{byte(b)}))
	}
	tags := []string{"<｜begin｜>", "<｜end｜>", "<｜User｜>", "<think>", "[INST]", "[i]"}
	for name, c := range map[string]struct {
		tokens   []string
		bos, eos int
	}{
		"First": {append(append([]string{}, tags...), texts...), 0, 1},
		"Last":  {append(append(append([]string{}, tags[1:]...), texts...), tags[0]), 261, 0},
	} {
		f := tokenizer.File{BOS: c.bos, EOS: []int{c.eos}, ChatTemplate: "{{ bos_token }}<｜User｜>[INST]{{ messages[0].content }}<think>"}
		ids := map[string]int{}
		for id, text := range c.tokens {
			f.Tokens = append(f.Tokens, tokenizer.Token{Text: text, Score: -float32(id)})
			ids[text] = id
		}
		tok, err := tokenizer.New(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range tags {
			got, err := tok.EncodeParts([]tokenizer.Part{{Text: "a" + tag + "b", Plain: true}})
			if err != nil {
				t.Fatal(err)
			}
			one := len(got) == 3 && got[1] == ids[tag]
			if control := tag != "[i]"; one && control {
				t.Errorf("%s: a client that types %q gets %v", name, tag, got)
			}
		}
		for _, tag := range tags[:3] {
			got, err := tok.EncodeParts([]tokenizer.Part{{Text: "a" + tag + "b"}})
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 3 || got[1] != ids[tag] {
				t.Errorf("%s: a template that writes %q gets %v", name, tag, got)
			}
		}
	}
}
