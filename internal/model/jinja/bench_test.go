package jinja_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/model/jinja"
)

const benchTemplate = `{%- macro call(c) %}{{- '<call>' ~ c.function.name ~ ' ' ~ c.function.arguments | tojson ~ '</call>' }}{%- endmacro %}
{{- bos_token }}
{%- if tools %}
    {{- '<|system|>\n' }}
    {%- for tool in tools %}
        {{- tool | tojson ~ '\n' }}
    {%- endfor %}
    {{- '<|end|>\n' }}
{%- endif %}
{%- for message in messages %}
    {{- '<|' + message['role'] + '|>\n' + (message.content or '') | trim }}
    {%- for c in message.tool_calls or [] %}{{ call(c) }}{% endfor %}
    {{- '<|end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}`

// BenchmarkParse parses a template, as at the start of an engine.
func BenchmarkParse(b *testing.B) {
	b.SetBytes(int64(len(benchTemplate)))
	for b.Loop() {
		if _, err := jinja.Parse(benchTemplate); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRender renders a conversation of 40 messages and 4 tools, as in each
// request.
func BenchmarkRender(b *testing.B) {
	template, err := jinja.Parse(benchTemplate)
	if err != nil {
		b.Fatal(err)
	}
	const tool = `{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}`
	const turn = `{"role":"user","content":"What is the weather in Paris?"},{"role":"assistant","tool_calls":[{"function":{"name":"get_weather","arguments":{"city":"Paris"}}}]}`
	vars, err := decodeVars([]byte(`{"tools":[` + strings.Repeat(tool+",", 3) + tool + `],"messages":[` + strings.Repeat(turn+",", 19) + turn + `],"add_generation_prompt":true}`))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := template.Render(context.Background(), jinja.Render{Vars: vars}); err != nil {
			b.Fatal(err)
		}
	}
}
