package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/local"
)

// redraw is the shortest time between two pictures of the live lines.
const redraw = 100 * time.Millisecond

// A screen is lines that stay, and below them live lines that are drawn over.
type screen struct {
	w     io.Writer
	live  bool
	width func() int

	bars  []bar
	drawn int // live lines that are there now
	at    time.Time
}

// A bar is one live line.
type bar struct {
	key  local.Key
	draw func(columns int) string
}

// set shows a bar, or another picture of it.
func (s *screen) set(key local.Key, draw func(columns int) string) {
	for i := range s.bars {
		if s.bars[i].key == key {
			s.bars[i].draw = draw
			return
		}
	}
	s.bars = append(s.bars, bar{key, draw})
}

// drop takes a bar away.
func (s *screen) drop(key local.Key) {
	var kept []bar
	for _, b := range s.bars {
		if b.key != key {
			kept = append(kept, b)
		}
	}
	s.bars = kept
}

// print writes lines that stay and draws the live lines again, all at once.
func (s *screen) print(lines []string, now time.Time) {
	stale := len(s.bars) != s.drawn || len(s.bars) > 0 && now.Sub(s.at) >= redraw
	if len(lines) == 0 && (!s.live || !stale) {
		return
	}
	var b strings.Builder
	b.WriteString(s.erase())
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	if s.live {
		for _, bar := range s.bars {
			b.WriteString(cut(bar.draw(s.columns()), s.columns()) + "\n")
		}
		s.drawn, s.at = len(s.bars), now
	}
	_, _ = io.WriteString(s.w, b.String())
}

// clear takes the live lines away.
func (s *screen) clear() {
	if s.drawn > 0 {
		_, _ = io.WriteString(s.w, s.erase())
	}
}

// erase goes up to the first live line and wipes from there.
func (s *screen) erase() string {
	if s.drawn == 0 {
		return ""
	}
	up := fmt.Sprintf("\x1b[%dA\r\x1b[J", s.drawn)
	s.drawn = 0
	return up
}

// columns of a live line. One stays free, because a full line wraps on some
// terminals.
func (s *screen) columns() int {
	if s.width == nil {
		return 0
	}
	return max(0, s.width()-1)
}
