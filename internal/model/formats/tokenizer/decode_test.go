package tokenizer_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
)

// bytesTokenizer has the 256 bytes, BOS 256 and EOS 257 and one more special
// token.
func bytesTokenizer(tb testing.TB) *tokenizer.Tokenizer {
	tb.Helper()
	var f tokenizer.File
	for b := range 256 {
		f.Tokens = append(f.Tokens, tokenizer.Token{Text: string([]byte{byte(b)}), Score: -float32(b)})
	}
	f.Tokens = append(f.Tokens, tokenizer.Token{Text: "<s>"}, tokenizer.Token{Text: "</s>"}, tokenizer.Token{Text: "<tool>"})
	f.BOS, f.EOS = 256, []int{257}
	tok, err := tokenizer.New(f, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return tok
}

func TestDecoder(t *testing.T) {
	cases := map[string]struct {
		ids  []int
		want []string // of each token, then of the end
	}{
		"ASCII":        {[]int{'a', 'b'}, []string{"a", "b", ""}},
		"TwoBytes":     {[]int{0xc3, 0xbc}, []string{"", "ü", ""}},
		"FourBytes":    {[]int{0xf0, 0x9f, 0x99, 0x82, 'x'}, []string{"", "", "", "🙂", "x", ""}},
		"BOSAndEOS":    {[]int{256, 'a', 257}, []string{"", "a", "", ""}},
		"OtherSpecial": {[]int{258}, []string{"<tool>", ""}},
		"OneRun":       {[]int{0xff, 0xfe, 'a'}, []string{"", "", "\ufffda", ""}},
		"BrokenOff":    {[]int{0xe6, 0x97, 'a'}, []string{"", "", "\ufffda", ""}},
		"Unfinished":   {[]int{'a', 0xe6, 0x97}, []string{"a", "", "", "\ufffd"}},
		"Surrogate":    {[]int{0xed, 0xa0, 0x80, 'a'}, []string{"", "", "", "\ufffda", ""}},
		"Overlong":     {[]int{0xc0, 0x80, 'a'}, []string{"", "", "\ufffda", ""}},
		"Outside":      {[]int{-1, 259, 1 << 40}, []string{"", "", "", ""}},
		"Replacement":  {[]int{0xef, 0xbf, 0xbd}, []string{"", "", "\ufffd", ""}},
	}
	tok := bytesTokenizer(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := tok.Decoder()
			var got []string
			for _, id := range c.ids {
				got = append(got, d.Next(id))
			}
			got = append(got, d.Flush())
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("pieces (-want +got):\n%s", diff)
			}
			if d.Next('z') != "z" || d.Flush() != "" {
				t.Error("the decoder cannot be used again")
			}
		})
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte("Grüße 🙂"))
	f.Add([]byte("\xff\xed\xa0\x80\xf4\x90\x80\x80"))
	tok := bytesTokenizer(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		d := tok.Decoder()
		var out strings.Builder
		for _, b := range text {
			piece := d.Next(int(b))
			if !utf8.ValidString(piece) {
				t.Fatalf("piece %q is not valid", piece)
			}
			out.WriteString(piece)
		}
		out.WriteString(d.Flush())
		if utf8.Valid(text) && out.String() != string(text) {
			t.Errorf("%q came back as %q", text, out.String())
		}
	})
}
