package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFeatures(t *testing.T) {
	all := NewFeatures("tools", " logprobs , json_schema", "tools", "")
	if want := Features("json_schema,logprobs,tools"); all != want {
		t.Fatalf("got %q, want %q", all, want)
	}
	if d := cmp.Diff([]string{"json_schema", "logprobs", "tools"}, all.Names()); d != "" {
		t.Error(d)
	}
	for name, c := range map[string]struct{ have, need, missing Features }{
		"Nothing":    {"", "", ""},
		"NoNeed":     {all, "", ""},
		"Same":       {all, all, ""},
		"Part":       {all, "logprobs,tools", ""},
		"None":       {"", "tools", "tools"},
		"Some":       {"tools", all, "json_schema,logprobs"},
		"PartOfName": {"tool", "tools", "tools"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.have.Missing(c.need); got != c.missing || c.have.Include(c.need) != (c.missing == "") {
				t.Errorf("missing %q, want %q", got, c.missing)
			}
		})
	}
}
