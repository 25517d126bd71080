package sidecar

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestStopper(t *testing.T) {
	cases := map[string]struct {
		stops   []string
		pieces  []string
		want    string
		stopped bool
	}{
		"None":          {nil, []string{"a", "b"}, "ab", false},
		"EmptyStop":     {[]string{""}, []string{"a", "b"}, "ab", false},
		"Inside":        {[]string{"END"}, []string{"abENDcd"}, "ab", true},
		"Across":        {[]string{"END"}, []string{"abE", "N", "Dcd"}, "ab", true},
		"AlmostThenNot": {[]string{"END"}, []string{"abE", "N", "X"}, "abENX", false},
		"HeldAtTheEnd":  {[]string{"END"}, []string{"abEN"}, "abEN", false},
		"FirstWins":     {[]string{"cd", "bc"}, []string{"abcd"}, "a", true},
		"CompleteFirst": {[]string{"abcd", "bc"}, []string{"abcd"}, "a", true},
		"Overlapping":   {[]string{"aab"}, []string{"a", "a", "a", "b", "x"}, "a", true},
		"Newlines":      {[]string{"\n\n"}, []string{"x\n", "y\n", "\nz"}, "x\ny", true},
		"Unicode":       {[]string{"конец"}, []string{"да ко", "нец"}, "да ", true},
		"AtOnce":        {[]string{"a"}, []string{"a"}, "", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStopper(c.stops)
			var got strings.Builder
			stopped := false
			for _, p := range c.pieces {
				text, stop := s.push(p)
				got.WriteString(text)
				if stop {
					stopped = true
					break
				}
			}
			if !stopped {
				got.WriteString(s.rest())
			}
			if got.String() != c.want || stopped != c.stopped {
				t.Errorf("got %q (stopped %v), want %q (%v)", got.String(), stopped, c.want, c.stopped)
			}
		})
	}
}

// However the text is cut, the result is that of the whole.
func FuzzStopper(f *testing.F) {
	f.Add("hello END there", "END", "lo", uint8(3))
	f.Add("aaaaab", "aab", "b", uint8(1))
	f.Add("ж\nж\n\n", "\n\n", "", uint8(2))
	f.Fuzz(func(t *testing.T, text, stop1, stop2 string, size uint8) {
		if size == 0 || len(text) > 4096 || !utf8.ValidString(text) {
			t.Skip()
		}
		want := text
		end := len(text) + 1
		for _, stop := range []string{stop1, stop2} {
			before, _, ok := strings.Cut(text, stop)
			if stop == "" || !ok {
				continue
			}
			if e := len(before) + len(stop); e < end || e == end && len(before) < len(want) {
				want, end = before, e
			}
		}
		s := newStopper([]string{stop1, stop2})
		var got strings.Builder
		for rest := text; rest != ""; {
			n := min(int(size), len(rest))
			piece, stopped := s.push(rest[:n])
			rest = rest[n:]
			got.WriteString(piece)
			if stopped {
				break
			}
		}
		if got.Len() < len(want) {
			got.WriteString(s.rest())
		}
		if got.String() != want {
			t.Errorf("got %q, want %q", got.String(), want)
		}
	})
}
