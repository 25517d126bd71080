package jinja_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/model/jinja"
)

// FuzzRender renders any template with any values: it must end with a text
// whose segments add up, or with an error of the package.
func FuzzRender(f *testing.F) {
	raw, err := os.ReadFile("testdata/language.json")
	if err != nil {
		f.Fatal(err)
	}
	var table struct {
		Data       json.RawMessage
		Constructs map[string][]struct{ Source string }
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		f.Fatal(err)
	}
	for _, rows := range table.Constructs {
		for _, row := range rows {
			f.Add(row.Source, string(table.Data))
		}
	}
	f.Fuzz(func(t *testing.T, source, data string) {
		template, err := jinja.Parse(source)
		if err != nil {
			expect(t, err)
			return
		}
		vars, err := decodeVars([]byte(data))
		if err != nil {
			return
		}
		limits := jinja.Limits{Steps: 100_000, Bytes: 1 << 22, Depth: 50}
		out, err := template.Render(context.Background(), jinja.Render{Vars: vars, Limits: limits, Now: clock})
		if err != nil {
			expect(t, err)
			return
		}
		var b strings.Builder
		for i, s := range out.Segments() {
			if s.Text == "" || i > 0 && out.Segments()[i-1].Foreign == s.Foreign {
				t.Fatalf("segment %d is empty or as the one before: %v", i, out.Segments())
			}
			b.WriteString(s.Text)
		}
		if b.String() != out.String() {
			t.Fatalf("segments add up to %q, want %q", b.String(), out.String())
		}
	})
}

func expect(t *testing.T, err error) {
	t.Helper()
	var e *jinja.Error
	if !errors.As(err, &e) || e.Line < 1 || e.Message == "" {
		t.Fatalf("err = %#v, want an Error with line and message", err)
	}
}
