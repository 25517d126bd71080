package tokenizer_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
)

func smallFile() tokenizer.File {
	return tokenizer.File{
		Tokens: []tokenizer.Token{{Text: "a", Score: 0}, {Text: "\xff", Score: -1}, {Text: "<s>", Score: -2}, {Text: "</s>", Score: -3}},
		BOS:    2, EOS: []int{3, 2}, AddBOS: true, ChatTemplate: "{{ x }}",
	}
}

func encode(tb testing.TB, f tokenizer.File) []byte {
	tb.Helper()
	raw, err := f.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func TestReadBack(t *testing.T) {
	bare := smallFile()
	bare.ChatTemplate, bare.AddBOS = "", false
	for name, f := range map[string]tokenizer.File{"Full": smallFile(), "Bare": bare} {
		t.Run(name, func(t *testing.T) {
			got, err := tokenizer.Read(bytes.NewReader(encode(t, f)))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(f, got); d != "" {
				t.Errorf("file (-want +got):\n%s", d)
			}
		})
	}
}

// numbers writes int32 values.
func numbers(v ...int) []byte {
	var b []byte
	for _, n := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(int32(n)))
	}
	return b
}

func TestReadOldKinds(t *testing.T) {
	tokens := append(numbers(0, 1), 'a')
	tokens = append(append(tokens, numbers(0, 1)...), 'b')
	want := tokenizer.File{Tokens: []tokenizer.Token{{Text: "a"}, {Text: "b"}}, BOS: 0, EOS: []int{1}, AddBOS: true}

	old := append(numbers(0x567123, 2, 1, 0, 1, 0), tokens...)
	legacy := append(numbers(0x567124, 8+8*6, 0, 1, 1, 2, 3, 0, 4, 1, 5, 0, 8, 3), "end"...)
	for name, raw := range map[string][]byte{"Old": old, "LegacyKeys": append(legacy, tokens...)} {
		t.Run(name, func(t *testing.T) {
			got, err := tokenizer.Read(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("file (-want +got):\n%s", d)
			}
		})
	}
}

func TestHostileFiles(t *testing.T) {
	good := encode(t, smallFile())
	put := func(at, v int) []byte {
		out := bytes.Clone(good)
		binary.LittleEndian.PutUint32(out[at:], uint32(int32(v)))
		return out
	}
	const tokens = 8 + 8*7 + 7 + 2*4 // where they begin
	cases := map[string]struct {
		raw  []byte
		want string
	}{
		"Empty":           {nil, "ends at byte 0"},
		"Magic":           {put(0, 0x1234), "magic is 0x00001234"},
		"HeaderSize":      {put(4, -8), "header size is -8"},
		"HugeHeader":      {put(4, 1<<30), "header size is 1073741824"},
		"UnknownKey":      {put(8, 77), "key 77 at byte 8"},
		"Version":         {put(8+8+4, 2), "version is 2"},
		"NegativeVocab":   {put(8+16+4, -1), "vocabulary size is -1"},
		"HugeVocab":       {put(8+16+4, 1<<30), "vocabulary size is 1073741824"},
		"LongVocab":       {put(8+16+4, 1<<20), "in token 4 of 1048576"},
		"HugeTemplate":    {put(8+32+4, 1<<30), "chat template length is 1073741824"},
		"NegativeEOS":     {put(8+40+4, -1), "number of eos ids is -1"},
		"ManyEOS":         {put(8+40+4, 1<<20), "number of eos ids is 1048576"},
		"NoEOS":           {put(8+40+4, 0), "length of token"},
		"BOSOutside":      {put(8+4, 4), "bos id is 4"},
		"EOSOutside":      {put(8+8*7+7, 99), "eos id is 99"},
		"EmptyToken":      {put(tokens+4, 0), "length of token 0 is 0"},
		"NegativeToken":   {put(tokens+4, -5), "length of token 0 is -5"},
		"HugeToken":       {put(tokens+4, 1<<30), "length of token 0 is 1073741824"},
		"CutInToken":      {good[:len(good)-1], "in token 3 of 4"},
		"CutInTemplate":   {good[:8+8*7+3], "in the chat template"},
		"CutInHeader":     {good[:20], "in the header"},
		"CutInEOS":        {good[:8+8*7+7+2], "in the eos ids"},
		"CutInLegacySkip": {append(numbers(0x567124, 8+8*2, 0, 1, 8, 100), "short"...), "in the chat stop"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := tokenizer.Read(bytes.NewReader(c.raw))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error is %v, want one with %q", err, c.want)
			}
			if k := fault.KindOf(err); k != fault.Corrupt && k != fault.Unsupported {
				t.Errorf("error %v is %s", err, k)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encode(f, smallFile()))
	f.Add(numbers(0x567123, 2, 1, 0, 1, 0))
	f.Add(append(numbers(0x567124, 8+8*2, 0, 1, 8, 100), "short"...))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := tokenizer.Read(bytes.NewReader(raw))
		if err != nil {
			return
		}
		if err := file.Validate(); err != nil {
			t.Fatalf("a file that was read is not valid: %v", err)
		}
		back, err := tokenizer.Read(bytes.NewReader(encode(t, file)))
		if err != nil || len(back.Tokens) != len(file.Tokens) {
			t.Fatalf("it cannot be read back: %v", err)
		}
		tok, err := tokenizer.New(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ids, err := tok.Encode(string(raw), file.AddBOS); err == nil {
			for _, id := range ids {
				if id < 0 || id >= len(file.Tokens) {
					t.Fatalf("token %d of %d", id, len(file.Tokens))
				}
			}
		}
	})
}
