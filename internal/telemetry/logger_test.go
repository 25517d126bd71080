package telemetry

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
)

func TestNewLogger(t *testing.T) {
	cases := map[string]struct {
		level, format string
		want          string // prefix of a line logged at info
		kind          fault.Kind
	}{
		"JSONByDefaultWhenNotATerminal": {want: `{"time":`},
		"Text":                          {format: "text", want: "time="},
		"UpperCase":                     {level: "INFO", format: "JSON", want: `{"time":`},
		"Quiet":                         {level: "warn", want: ""},
		"UnknownLevel":                  {level: "loud", kind: fault.Invalid},
		"UnknownFormat":                 {format: "xml", kind: fault.Invalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			l, err := NewLogger(&out, c.level, c.format)
			if got := fault.KindOf(err); got != c.kind {
				t.Fatalf("kind = %q, want %q (%v)", got, c.kind, err)
			}
			if err != nil {
				return
			}
			l.Info("hello")
			if !strings.HasPrefix(out.String(), c.want) || (c.want == "") != (out.Len() == 0) {
				t.Errorf("wrote %q, want prefix %q", out.String(), c.want)
			}
		})
	}
}
