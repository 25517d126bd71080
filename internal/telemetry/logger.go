// Package telemetry sets up logging and tracing of Koldun's processes.
package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/gorizond/koldun/internal/fault"
)

// Log formats.
const (
	Auto = "auto" // Text on a terminal, JSON otherwise
	Text = "text"
	JSON = "json"
)

// NewLogger returns a logger that writes to w. Level is debug, info, warn or
// error, or "" for info; format is one of the constants, or "" for Auto. Other
// values are an Invalid error.
func NewLogger(w io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if level != "" {
		if err := l.UnmarshalText([]byte(level)); err != nil {
			return nil, fault.Errorf(fault.Invalid, "cannot set log level %q: it is none of debug, info, warn, error", level)
		}
	}
	o := &slog.HandlerOptions{Level: l}
	switch strings.ToLower(format) {
	case "", Auto:
		if isTerminal(w) {
			return slog.New(slog.NewTextHandler(w, o)), nil
		}
		return slog.New(slog.NewJSONHandler(w, o)), nil
	case Text:
		return slog.New(slog.NewTextHandler(w, o)), nil
	case JSON:
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, fault.As(fault.Invalid, fmt.Errorf("cannot set log format %q: it is none of auto, text, json", format))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
