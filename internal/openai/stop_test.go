package openai

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// filterStops pushes text in pieces of the given size in bytes.
func filterStops(stops []string, text string, size int) (out string, stopped bool) {
	f := NewStopFilter(stops...)
	var b strings.Builder
	for at := 0; at < len(text); at += size {
		piece, stopped := f.Push(text[at:min(at+size, len(text))])
		b.WriteString(piece)
		if stopped {
			return b.String(), true
		}
	}
	b.WriteString(f.Rest())
	return b.String(), false
}

// TestStopFilterNamesTheSequence holds that of several sequences the one is named that
// ended the text.
func TestStopFilterNamesTheSequence(t *testing.T) {
	for text, want := range map[string]string{"abcd": "bc", "a": "", "x…cd": "…"} {
		f := NewStopFilter("cd", "bc", "…")
		if f.Push(text[:1]); f.Matched() != "" {
			t.Errorf("%q: %q in the first byte", text, f.Matched())
		}
		if f.Push(text[1:]); f.Matched() != want {
			t.Errorf("%q: %q, want %q", text, f.Matched(), want)
		}
	}
}

func TestStopFilter(t *testing.T) {
	cases := map[string]struct {
		stops   []string
		text    string
		want    string
		stopped bool
	}{
		"None":              {nil, "ab", "ab", false},
		"EmptyStop":         {[]string{""}, "ab", "ab", false},
		"EmptyStopAndOne":   {[]string{"", "b"}, "ab", "a", true},
		"NotThere":          {[]string{"x"}, "abc", "abc", false},
		"Inside":            {[]string{"END"}, "abENDcd", "ab", true},
		"AlmostThenNot":     {[]string{"END"}, "abENX", "abENX", false},
		"HeldAtTheEnd":      {[]string{"END"}, "abEN", "abEN", false},
		"FirstWins":         {[]string{"cd", "bc"}, "abcd", "a", true},
		"CompleteFirst":     {[]string{"abcd", "bc"}, "xabcd", "xa", true},
		"LongestOfEqual":    {[]string{"c", "bc", "abc"}, "xabc", "x", true},
		"Overlapping":       {[]string{"aab"}, "aaabx", "a", true},
		"RepeatedBeginning": {[]string{"ababc"}, "abababc", "ab", true},
		"SecondChance":      {[]string{"abx", "bcd"}, "abcd", "a", true},
		"Newlines":          {[]string{"\n\n"}, "x\ny\n\nz", "x\ny", true},
		"Unicode":           {[]string{"конец"}, "да конец", "да ", true},
		"MoreThanOneByte":   {[]string{"…"}, "wait…", "wait", true},
		"OneByteAtOnce":     {[]string{"a"}, "a", "", true},
		"AtOnce":            {[]string{"abc"}, "abc", "", true},
		"EndTokenInText":    {[]string{"<|eot_id|>"}, "bye<|eot_id|>", "bye", true},
		"AlmostTheEndToken": {[]string{"<|eot_id|>"}, "a < b <| c <|eot_i", "a < b <| c <|eot_i", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(c.text); size++ {
				got, stopped := filterStops(c.stops, c.text, size)
				if got != c.want || stopped != c.stopped {
					t.Errorf("in pieces of %d: %q, %v; want %q, %v", size, got, stopped, c.want, c.stopped)
				}
			}
		})
	}
}

func TestStopFilterHoldsNoMoreThanNeeded(t *testing.T) {
	f := NewStopFilter("stop", "top hat")
	for _, step := range []struct{ push, want string }{{"a st", "a "}, {"o", ""}, {"ne", "stone"}, {"sto", ""}, {"t", "sto"}, {"x", "tx"}} {
		if got, _ := f.Push(step.push); got != step.want {
			t.Errorf("after %q comes %q, want %q", step.push, got, step.want)
		}
	}
}

func TestStopFilterForgetsWhatItGaveBack(t *testing.T) {
	f := NewStopFilter("END")
	if text, _ := f.Push("EN"); text != "" || f.Rest() != "EN" || f.Rest() != "" {
		t.Error("the beginning of a stop sequence is given back twice")
	}
	if text, stopped := f.Push("D"); text != "D" || stopped {
		t.Errorf("after the rest comes %q, %v", text, stopped)
	}
	if _, stopped := f.Push("END"); !stopped || f.Rest() != "" {
		t.Error("text after a stop sequence is held")
	}
}

// However the text is cut, the result is that of the whole, without the stop
// sequence that is complete first.
func FuzzStopFilter(f *testing.F) {
	f.Add("hello END there", "END", "lo", uint8(3))
	f.Add("aaaaab", "aab", "b", uint8(1))
	f.Add("ж\nж\n\n", "\n\n", "", uint8(2))
	f.Add("hello world", "o w", "ll", uint8(3))
	f.Add("aaaaab", "aab", "aaab", uint8(2))
	f.Fuzz(func(t *testing.T, text, a, b string, size uint8) {
		if len(text) > 4096 || !utf8.ValidString(text) {
			t.Skip()
		}
		want, wantStopped, end := text, false, len(text)+1
		for _, stop := range []string{a, b} {
			before, _, found := strings.Cut(text, stop)
			if stop == "" || !found {
				continue
			}
			if e := len(before) + len(stop); e < end || e == end && len(before) < len(want) {
				want, wantStopped, end = before, true, e
			}
		}
		got, stopped := filterStops([]string{a, b}, text, int(size)+1)
		if got != want || stopped != wantStopped {
			t.Errorf("in pieces of %d: %q, %v; want %q, %v", int(size)+1, got, stopped, want, wantStopped)
		}
	})
}
