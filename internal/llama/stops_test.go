package llama

import (
	"strings"
	"testing"
)

// through pushes text in pieces of so many bytes.
func through(stops []string, text string, size int) (out string, stopped bool) {
	s := stopper{stops: stops}
	var b strings.Builder
	for at := 0; at < len(text); at += size {
		piece, stopped := s.push(text[at:min(at+size, len(text))])
		b.WriteString(piece)
		if stopped {
			return b.String(), true
		}
	}
	b.WriteString(s.flush())
	return b.String(), false
}

func TestStopper(t *testing.T) {
	cases := map[string]struct {
		stops   []string
		text    string
		want    string
		stopped bool
	}{
		"NoStops":           {nil, "abc", "abc", false},
		"NotThere":          {[]string{"x"}, "abc", "abc", false},
		"Inside":            {[]string{"b"}, "abc", "a", true},
		"AtOnce":            {[]string{"abc"}, "abc", "", true},
		"BegunOnly":         {[]string{"cd"}, "abc", "abc", false},
		"BegunTwice":        {[]string{"aab"}, "aaab", "a", true},
		"FirstComplete":     {[]string{"abcd", "bc"}, "xabcd", "xa", true},
		"LongestOfEqual":    {[]string{"c", "bc", "abc"}, "xabc", "x", true},
		"SecondChance":      {[]string{"abx", "bcd"}, "abcd", "a", true},
		"EndTokenInText":    {[]string{"<|eot_id|>"}, "bye<|eot_id|>", "bye", true},
		"AlmostTheEnd":      {[]string{"<|eot_id|>"}, "a < b <| c <|eot_i", "a < b <| c <|eot_i", false},
		"MoreThanOneByte":   {[]string{"…"}, "wait…", "wait", true},
		"RepeatedBeginning": {[]string{"ababc"}, "abababc", "ab", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(c.text); size++ {
				got, stopped := through(c.stops, c.text, size)
				if got != c.want || stopped != c.stopped {
					t.Errorf("in pieces of %d: %q, %v; want %q, %v", size, got, stopped, c.want, c.stopped)
				}
			}
		})
	}
}

func TestStopperHoldsNoMoreThanNeeded(t *testing.T) {
	s := stopper{stops: []string{"stop", "top hat"}}
	for _, step := range []struct{ push, want string }{{"a st", "a "}, {"o", ""}, {"ne", "stone"}, {"sto", ""}, {"t", "stot"[:3]}, {"x", "tx"}} {
		if got, _ := s.push(step.push); got != step.want {
			t.Errorf("after %q comes %q, want %q", step.push, got, step.want)
		}
	}
}

// FuzzStopper wants the same whatever the pieces, and nothing lost.
func FuzzStopper(f *testing.F) {
	f.Add("hello world", "o w", "ll", uint8(3))
	f.Add("aaaaab", "aab", "aaab", uint8(2))
	f.Fuzz(func(t *testing.T, text, a, b string, size uint8) {
		var stops []string
		for _, s := range []string{a, b} {
			if s != "" {
				stops = append(stops, s)
			}
		}
		want, stopped := through(stops, text, 1)
		got, alike := through(stops, text, int(size)+1)
		if got != want || alike != stopped {
			t.Fatalf("in pieces of %d: %q, %v; byte by byte: %q, %v", int(size)+1, got, alike, want, stopped)
		}
		if !stopped && got != text {
			t.Fatalf("text %q became %q", text, got)
		}
		for _, s := range stops {
			if strings.Contains(got, s) || strings.Contains(text, s) && !stopped {
				t.Fatalf("stop %q is in %q", s, got)
			}
		}
	})
}
