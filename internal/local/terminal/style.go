package terminal

import (
	"fmt"
	"strings"
	"time"
)

// A style is how things look.
type style struct {
	color                   bool
	ok, bad, note           string // marks of a line
	fork, last, rail, blank string // of a tree
	full, empty             string // of a bar
}

func newStyle(color, unicode bool) style {
	if unicode {
		return style{color, "✓", "✗", "·", "├─ ", "└─ ", "│  ", "   ", "━", "─"}
	}
	return style{color, "+", "!", "-", "|- ", "`- ", "|  ", "   ", "=", "-"}
}

// Colours by their ANSI codes.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (s style) paint(code, text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// bar is done/total as a bar of that many columns.
func (s style) bar(percent, columns int) string {
	full := columns * min(max(percent, 0), 100) / 100
	return s.paint(green, strings.Repeat(s.full, full)) + s.paint(dim, strings.Repeat(s.empty, columns-full))
}

// span is a duration for people: 0.3s, 12.1s, 4m05s, 2h10m.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", max(d, 0).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// cut shortens a line to a number of columns, 0 for any. Colour codes take no
// column and are kept.
func cut(line string, columns int) string {
	if columns <= 0 {
		return line
	}
	var b strings.Builder
	used, escape, cutting := 0, false, false
	for _, r := range line {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		case used >= columns:
			cutting = true
			continue
		default:
			used++
		}
		b.WriteRune(r)
	}
	if !cutting {
		return line
	}
	return b.String()
}

// oneLine drops what would spoil a line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
			return -1
		}
		return r
	}, s)
}
