package jinja_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/model/jinja"
)

// marked shows the parts of an output that come from data in angle quotes.
func marked(o jinja.Output) string {
	var b strings.Builder
	for _, s := range o.Segments() {
		if s.Foreign {
			b.WriteString("«" + s.Text + "»")
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// TestOrigin follows texts of data through operations.
func TestOrigin(t *testing.T) {
	const data = `{"c": " hi <b> ", "l": ["x", "y"], "d": {"k": "v"}, "n": 5, "e": ""}`
	for source, want := range map[string]string{
		`<|user|>{{ c }}<|end|>`:                       "<|user|>« hi <b> »<|end|>",
		`{{ '<|user|>' + c + '<|end|>' }}`:             "<|user|>« hi <b> »<|end|>",
		`{{ '[' ~ c|trim ~ ']' }}`:                     "[«hi <b>»]",
		`{{ ('[' + c + ']')[3:6] }}`:                   "«i <»",
		`{{ ('[' + c|trim + ']')[-2:] }}`:              "«>»]",
		`{{ ('[' + c + ']').upper() }}`:                "[« HI <B> »]",
		`{{ ('[' + c + ']').split(' ') }}`:             "['[', '«hi»', '«<b>»', ']']",
		`{{ c.replace('<', '<|') }}`:                   "« hi »<|«b> »",
		`{{ '<|a|>'.replace('a', l[0]) }}`:             "<|«x»|>",
		`{{ l|join('<|sep|>') }}`:                      "«x»<|sep|>«y»",
		`{{ l|tojson }}`:                               `["«x»", "«y»"]`,
		`{{ d|tojson }}`:                               `{"«k»": "«v»"}`,
		`{{ d }}`:                                      `{'«k»': '«v»'}`,
		`{% for k in d %}{{ k }}{% endfor %}`:          "«k»",
		`{{ n }}{{ n ~ '' }}`:                          "55",
		`{{ e }}{{ '' ~ e }}x`:                         "x",
		`{{ '%s|%s' % (l[0], l[1]) }}`:                 "«x»|«y»",
		`{% set b %}[{{ c }}]{% endset %}{{ b|trim }}`: "[« hi <b> »]",
		`{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(l[0]) }}{{ m('z') }}`: "<«x»><z>",
		`{% filter upper %}a{{ l[0] }}{% endfilter %}`:                     "A«X»",
		`{{ 'a' if l[0] == 'x' else 'b' }}`:                                "a",
		`{{ (l[0] ~ 'é')|upper }}`:                                         "«XÉ»",
		`{{ l[0] * 2 ~ 'a' * 2 }}`:                                         "«xx»aa",
		`{{ ('a' ~ l[0])|list|join }}`:                                     "a«x»",
		`{{ ('a' ~ l[0])[::-1] }}`:                                         "«x»a",
		`{{ (l[0] ~ '\n')|tojson }}`:                                       `"«x»\n"`,
		`{{ c|e }}`:                                                        "« hi &lt;b&gt; »",
		`{{ c|indent(2, true) }}`:                                          "  « hi <b> »",
		`{{ literal ~ c[:2] }}`:                                            "<s>« h»",
	} {
		template, err := jinja.Parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		vars, err := decodeVars([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		vars = append(vars, jinja.Pair{Key: "literal", Value: jinja.Literal("<s>")})
		out, err := template.Render(context.Background(), jinja.Render{Vars: vars})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if d := cmp.Diff(want, marked(out)); d != "" {
			t.Errorf("%s: %s", source, d)
		}
	}
}
