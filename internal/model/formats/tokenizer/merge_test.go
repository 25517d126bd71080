package tokenizer_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
)

// plainEncode follows the definition: emit special tokens and single tokens,
// then join the best pair until none is left. It is quadratic.
func plainEncode(f tokenizer.File, text string, bos bool) ([]int, bool) {
	var ids []int
	if bos {
		ids = append(ids, f.BOS)
	}
	ordinary := map[string]int{}
	for id := f.BOS - 1; id >= 0; id-- {
		ordinary[f.Tokens[id].Text] = id
	}
	pending := ""
scan:
	for len(text) > 0 {
		if pending == "" {
			for id := f.BOS; id < len(f.Tokens); id++ {
				if strings.HasPrefix(text, f.Tokens[id].Text) {
					ids, text = append(ids, id), text[len(f.Tokens[id].Text):]
					continue scan
				}
			}
		}
		pending, text = pending+text[:1], text[1:]
		if id, ok := ordinary[pending]; ok {
			ids, pending = append(ids, id), ""
		}
	}
	if pending != "" {
		return nil, false
	}
	for {
		best, at := -1, -1
		for i := 0; i+1 < len(ids); i++ {
			id, ok := ordinary[f.Tokens[ids[i]].Text+f.Tokens[ids[i+1]].Text]
			if ok && (best < 0 || f.Tokens[id].Score > f.Tokens[best].Score) {
				best, at = id, i
			}
		}
		if best < 0 {
			return ids, true
		}
		ids = append(ids[:at+1], ids[at+2:]...)
		ids[at] = best
	}
}

// randomFile returns a small vocabulary over few letters, with equal scores,
// tokens of several bytes and special tokens with common prefixes.
func randomFile(rng *rand.Rand) tokenizer.File {
	var f tokenizer.File
	seen := map[string]bool{}
	add := func(text string) {
		if !seen[text] {
			seen[text] = true
			f.Tokens = append(f.Tokens, tokenizer.Token{Text: text, Score: -float32(rng.IntN(8))})
		}
	}
	for _, c := range "abcd" {
		if rng.IntN(8) > 0 {
			add(string(c))
		}
	}
	add("xy")
	for range 25 {
		var b strings.Builder
		for range 2 + rng.IntN(4) {
			b.WriteByte("abcdxy"[rng.IntN(6)])
		}
		add(b.String())
	}
	f.BOS = len(f.Tokens)
	for _, s := range []string{"<s>", "<", "<<", "a<"} {
		add(s)
	}
	f.EOS = []int{f.BOS + 1}
	return f
}

func TestEncodeLikePlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 3000 {
		f := randomFile(rng)
		tok, err := tokenizer.New(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for range rng.IntN(40) {
			text.WriteString([]string{"a", "b", "c", "d", "xy", "<", "<s>", "a<"}[rng.IntN(8)])
		}
		bos := rng.IntN(2) == 0
		want, ok := plainEncode(f, text.String(), bos)
		got, err := tok.Encode(text.String(), bos)
		if !ok {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("error of %q is %v, want an Invalid one", text.String(), err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(append([]int{}, want...), append([]int{}, got...)); d != "" {
			t.Fatalf("tokens of %q with %+v (-want +got):\n%s", text.String(), f, d)
		}
	}
}

func TestEncodeKeepsText(t *testing.T) {
	tok := tinyTokenizer(t)
	for _, text := range []string{"", "a", "Hello", "ẞ ü 日本語 🙂", "\x00\xff\xfe", strings.Repeat("koldun ", 500), "<|eot_id|>x<|eot_id", "\r\n\t "} {
		ids, err := tok.Encode(text, true)
		if err != nil {
			t.Fatal(err)
		}
		var back strings.Builder
		for _, id := range ids[1:] {
			back.WriteString(tok.File().Tokens[id].Text)
		}
		if ids[0] != tok.File().BOS || back.String() != text {
			t.Errorf("%q came back as %q", text, back.String())
		}
	}
}

func TestSpecialTokensInText(t *testing.T) {
	tok := tinyTokenizer(t)
	ids, err := tok.Encode("<|start_header_id|><|eot_id|><|eot_id", false)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{1021, 1023}, ids[:2]); d != "" || len(ids) < 4 {
		t.Errorf("tokens are %v", ids)
	}
}

func BenchmarkEncode(b *testing.B) {
	tok := tinyTokenizer(b)
	for _, n := range []int{1000, 16000, 256000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := strings.Repeat("What is Koldun? It is a short claim. ", n/37+1)[:n]
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tok.Encode(text, true); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
