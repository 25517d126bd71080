package jinja_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/gorizond/koldun/internal/model/jinja"
)

// TestLanguage renders a table of small templates for each construct. The
// texts, and which templates are refused, are those of Jinja2 3.1.6 with the
// settings of transformers.
func TestLanguage(t *testing.T) {
	raw, err := os.ReadFile("testdata/language.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Data       json.RawMessage
		Constructs map[string][]struct {
			Source  string
			Text    *string
			Refused string // the error of Jinja2
		}
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	for name, rows := range table.Constructs {
		t.Run(name, func(t *testing.T) {
			for _, row := range rows {
				var got string
				template, err := jinja.Parse(row.Source)
				if err == nil {
					got, err = render(template, table.Data)
				}
				var refused *jinja.Error
				switch {
				case row.Text == nil && !errors.As(err, &refused):
					t.Errorf("%s\nwant refused: %s\nerr = %v, got %q", row.Source, row.Refused, err, got)
				case row.Text != nil && (err != nil || got != *row.Text):
					t.Errorf("%s\nwant %q\ngot  %q, err = %v", row.Source, *row.Text, got, err)
				}
			}
		})
	}
}
