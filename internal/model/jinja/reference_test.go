package jinja_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/model/jinja"
	"github.com/gorizond/koldun/internal/model/jinja/jinjatest"
)

// A reference is a folder of templates of real models with what Jinja2 renders.
type reference struct {
	Templates map[string]string
	Cases     []struct {
		Template, Scenario string
		Data               json.RawMessage
		Text               *string
		Refused            string
	}
}

func readReference(tb testing.TB) reference {
	tb.Helper()
	var r reference
	jinjatest.ReadCases(tb, "./internal/model/jinja", &r)
	if len(r.Cases) == 0 {
		tb.Fatal("there are no cases")
	}
	return r
}

// clock is the time at which the reference was rendered.
func clock() time.Time { return time.Date(2026, time.July, 26, 0, 0, 0, 0, time.UTC) }

// decodeVars returns the entries of a JSON object as variables.
func decodeVars(raw []byte) ([]jinja.Pair, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	var vars []jinja.Pair
	for name, raw := range object {
		v, err := jinja.Decode(raw)
		if err != nil {
			return nil, err
		}
		vars = append(vars, jinja.Pair{Key: name, Value: v})
	}
	return vars, nil
}

func render(t *jinja.Template, data []byte) (string, error) {
	vars, err := decodeVars(data)
	if err != nil {
		return "", err
	}
	out, err := t.Render(context.Background(), jinja.Render{Vars: vars, Now: clock})
	return out.String(), err
}

// TestTemplatesOfModels compares with the exact text of Jinja2, and expects a
// refusal where Jinja2 refuses.
func TestTemplatesOfModels(t *testing.T) {
	r := readReference(t)
	for _, c := range r.Cases {
		t.Run(c.Template+"/"+c.Scenario, func(t *testing.T) {
			template, err := jinja.Parse(r.Templates[c.Template])
			if err != nil {
				t.Fatal(err)
			}
			got, err := render(template, c.Data)
			var refused *jinja.Error
			switch {
			case c.Text == nil && !errors.As(err, &refused):
				t.Errorf("want refused: %s; err = %v, got %q", c.Refused, err, got)
			case c.Text != nil && err != nil:
				t.Error(err)
			case c.Text != nil:
				if d := cmp.Diff(*c.Text, got); d != "" {
					t.Error(d)
				}
			}
		})
	}
}
