package engineapi

import (
	"testing"
	"time"
)

func TestPauses(t *testing.T) {
	const pace = 10 * time.Millisecond
	cases := map[string]struct {
		gaps   []time.Duration
		pieces int
		want   time.Duration // after the last
	}{
		"First":    {[]time.Duration{time.Minute}, 1, 0},
		"Slow":     {[]time.Duration{time.Second, time.Second, time.Second, time.Second, time.Second, time.Second}, 1, 0},
		"Short":    {[]time.Duration{time.Second, 1, 1, 1, 1}, 1, 0},
		"Quick":    {[]time.Duration{time.Second, 1, 1, 1, 1, 1}, 1, pace},
		"Goes on":  {[]time.Duration{time.Second, 1, 1, 1, 1, 1, pace}, 10, pace},
		"Unworthy": {[]time.Duration{pace, pace, pace, pace, pace, pace, pace}, 1, 0},
		"Slower":   {[]time.Duration{time.Second, 1, 1, 1, 1, 1, time.Second}, 1, 0},
		"Flood":    {[]time.Duration{1, 1, 1, 1, 1, 1, 1}, fullPieces, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := pauses{pace: pace}
			var got time.Duration
			for _, gap := range c.gaps {
				got = p.next(gap, c.pieces)
			}
			if got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
