package jinja_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/model/jinja"
)

// TestLimits renders templates that need too much.
func TestLimits(t *testing.T) {
	limits := jinja.Limits{Steps: 200_000, Bytes: 1 << 20, Depth: 50}
	for name, source := range map[string]string{
		"Steps":       `{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}`,
		"Output":      `{% for i in range(100000) %}0123456789012345678901234567890123456789{% endfor %}`,
		"Doubling":    `{% set ns = namespace(x='a') %}{% for i in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}`,
		"Lists":       `{% set ns = namespace(x=[1]) %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}{% endfor %}`,
		"Shared":      `{% set ns = namespace(x=['a']) %}{% for i in range(30) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}`,
		"SharedEqual": `{% set a = namespace(x=[]) %}{% set b = namespace(x=[]) %}{% for i in range(30) %}{% set a.x = [a.x, a.x] %}{% set b.x = [b.x, b.x] %}{% endfor %}{{ a.x == b.x }}`,
		"Recursion":   `{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}`,
		"Loops":       `{% for x in [[]] recursive %}{{ loop([[]]) }}{% endfor %}`,
		"Itself":      `{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}`,
		"Repeat":      `{{ 'ab' * 10000000000 }}`,
		"RepeatList":  `{{ [1] * 10000000000 }}`,
		"Indent":      `{{ [[]]|tojson(indent=10000000000) }}`,
		"Batch":       `{{ [1]|batch(10000000000, 'x')|list }}`,
		"Slice":       `{{ [1]|slice(10000000000)|list }}`,
		"Integers":    `{% set ns = namespace(x=2) %}{% for i in range(100) %}{% set ns.x = ns.x * ns.x %}{% endfor %}`,
		"Power":       `{{ 10 ** 1000000 }}`,
		"Replace":     `{{ ('a' * 1000)|replace('', 'b' * 10000) }}`,
		"Scans":       `{% set s = 'a' * 500000 %}{% for i in range(90000) %}{% set x = s.find('b') or 'b' in s or s == 'b' ~ s[1:] %}{% endfor %}`,
		"Keywords":    `{% set ns = namespace(d={}) %}{% for i in range(2000) %}{% set ns.d = dict(ns.d, **{'a' ~ i: 1}) %}{% endfor %}{{ dict(**ns.d) }}`,
	} {
		t.Run(name, func(t *testing.T) {
			template, err := jinja.Parse(source)
			if err != nil {
				t.Fatal(err)
			}
			_, err = template.Render(context.Background(), jinja.Render{Limits: limits})
			var e *jinja.Error
			if !errors.As(err, &e) || e.Reason != jinja.Exceeded {
				t.Errorf("err = %v, want a limit", err)
			}
		})
	}
}

// TestNesting parses templates whose nodes would need a deep stack.
func TestNesting(t *testing.T) {
	const n = 100_000
	for name, source := range map[string]string{
		"Brackets":   "{{ " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + " }}",
		"Lists":      "{{ " + strings.Repeat("[", n) + strings.Repeat("]", n) + " }}",
		"Signs":      "{{ " + strings.Repeat("-", n) + "1 }}",
		"Nots":       "{{ " + strings.Repeat("not ", n) + "1 }}",
		"Conditions": "{{ " + strings.Repeat("1 if 0 else ", n) + "1 }}",
		"Ifs":        strings.Repeat("{% if 1 %}", n) + strings.Repeat("{% endif %}", n),
		"Targets":    "{% set " + strings.Repeat("(", n) + "a" + strings.Repeat(")", n) + " = 1 %}",
		"Source":     strings.Repeat("a", jinja.MaxSource+1),
	} {
		_, err := jinja.Parse(source)
		var e *jinja.Error
		if !errors.As(err, &e) || e.Reason != jinja.Exceeded {
			t.Errorf("%s: err = %v, want a limit", name, err)
		}
	}
	for name, source := range map[string]string{
		"Sum":        "{{ 1" + strings.Repeat("+1", n) + " }}",
		"Attributes": "{{ {}" + strings.Repeat("|list", n) + " }}",
		"Or":         "{{ 0" + strings.Repeat(" or 0", n) + " }}",
	} {
		template, err := jinja.Parse(source)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := template.Render(context.Background(), jinja.Render{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestContext ends an evaluation from outside.
func TestContext(t *testing.T) {
	template, err := jinja.Parse(`{% for i in range(100000) %}{% for j in range(1000) %}{% endfor %}{% endfor %}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := template.Render(ctx, jinja.Render{}); !errors.Is(err, stop) {
		t.Errorf("err = %v, want the cause of the context", err)
	}
}

// TestErrors checks that errors name line and construct.
func TestErrors(t *testing.T) {
	for source, want := range map[string]string{
		"\n\n{{ x.y.z }}":                                     `line 3: attribute "y": 'x' is undefined`,
		"a\n{{ 5|tojson }}{{ x|tojson }}":                     `line 2: filter "tojson": Object of type Undefined is not JSON serializable`,
		"{% if 1 %}\n{{ raise_exception('no') }}{% endif %}":  `line 2: no`,
		"{{ 'a' + 1 }}":                                       `line 1: "+": can only concatenate str (not "int") to str`,
		"\n{% include 'x' %}":                                 `line 2: tag "include": chat templates have no access to other templates or extensions`,
		"\n{{ x|xmlattr }}":                                   `line 2: filter "xmlattr": it is not supported in chat templates`,
		"{% if 0 %}{{ x|center }}{% endif %}":                 `line 1: filter "center": it is not supported in chat templates`,
		"{% if 0 %}{{ 1 is lower }}{% endif %}":               `line 1: test "lower": it is not supported in chat templates`,
		"{% if 0 %}{{ x.zfill(3) }}{% endif %}":               `line 1: method "zfill": it is not supported in chat templates`,
		"{% if 0 %}{{ cycler(3) }}{% endif %}":                `line 1: function "cycler": it is not supported in chat templates`,
		"{{ 'a'['zfill'](3) }}":                               `line 1: method "str.zfill": it is not supported in chat templates`,
		"{{ '%5s' % 1 }}":                                     `line 1: conversion "%5s": it is not supported in chat templates`,
		"{% macro cycler(x) %}{% endmacro %}{{ cycler().y }}": `<nil>`,
		"{{ 'a'.nope() }}":                                    `line 1: call: 'str object' has no attribute 'nope'`,
		"{{ x|nope }}":                                        `line 1: filter "nope": it does not exist`,
		"{{ 1 is nope }}":                                     `line 1: test "nope": it does not exist`,
		"{{ [].append(1) }}":                                  `line 1: call: access to attribute 'append' of 'list' object is unsafe`,
		"{% for i in l %}\n":                                  `line 1: unexpected end of template, want endfor for the tag "for" of line 1`,
		"\n{% if 1 %}{% endfor %}":                            `line 2: unexpected 'endfor', want endif for the tag "if" of line 2`,
		"{{ 1 + }}":                                           `line 1: unexpected '}}', want an expression`,
		"{{ 'a }}":                                            `line 1: a string has no end`,
		"{{ nope() }}":                                        `line 1: call: 'nope' is undefined`,
		"{% for a, b in [[1]] %}{% endfor %}":                 `line 1: assignment: not enough values to unpack (expected 2, got 1)`,
		"{{ 'a'|replace('b') }}":                              `line 1: filter "replace": replace() misses the argument 'new'`,
		"{{ range(1, x=2) }}":                                 `line 1: call: range() got an unexpected keyword argument 'x'`,
	} {
		template, err := jinja.Parse(source)
		if err == nil {
			_, err = template.Render(context.Background(), jinja.Render{})
		}
		if fmt.Sprint(err) != want {
			t.Errorf("%q:\nwant %s\ngot  %v", source, want, err)
		}
	}
}
