package constrain_test

import (
	"fmt"
	"strings"
)

// repeat joins so many texts, made with their numbers.
func repeat(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(format, "@", fmt.Sprint(i))
	}
	return strings.Join(all, ",")
}

// attacks are schemas of up to 256 KiB that are made to take long, or much memory: each
// has a word of the error that it gets, or none if it is no harm.
var attacks = map[string]struct{ schema, want string }{
	"WideUnion":  {`{"anyOf":[` + repeat(4000, `{"type":"array"}`) + `]}`, `"#/anyOf": it has more than 256 alternatives`},
	"WiderUnion": {`{"anyOf":[` + repeat(8000, `{"type":"array"}`) + `]}`, `"#/anyOf": it has more than 256 alternatives`},
	"NestedUnions": {`{"anyOf":[` + repeat(100, `{"anyOf":[`+repeat(20, `{"type":"array"}`)+`]}`) +
		`]}`, `"#/anyOf": it has more than 256 alternatives`},
	"UnionsByReference": {`{"anyOf":[` + repeat(90, `{"$ref":"#/$defs/a@"}`) + `],"$defs":{` +
		repeat(90, `"a@":{"anyOf":[`+strings.TrimSuffix(strings.Repeat(`{"type":"array"},`, 90), ",")+`]}`) +
		`}}`, `"#/anyOf": it has more than 256 alternatives`},
	"UnionOfRequired": {`{"required":[` + repeat(12_000, `"n@"`) + `],"additionalProperties":{"anyOf":[` + repeat(12_000, `true`) +
		`]}}`, `additionalProperties/anyOf": it has more than 256 alternatives`},
	"RequiredTimesUnion": {`{"required":[` + repeat(20_000, `"n@"`) + `],"additionalProperties":{"anyOf":[` + repeat(200, `true`) +
		`]}}`, `more than`},
	"RequiredTimesEnum": {`{"required":[` + repeat(10_000, `"n@"`) + `],"additionalProperties":{"type":"integer","enum":[1,` +
		repeat(20_000, `0.5`) + `]}}`, `more than 4194304 steps to compile`},
	"RequiredTimesNotes": {`{"required":[` + repeat(10_000, `"n@"`) + `],"additionalProperties":{"type":"null",` + repeat(9_000, `"x-@":0`) +
		`}}`, `more than 4194304 steps to compile`},
	"RequiredTimesTypes": {`{"required":[` + repeat(10_000, `"n@"`) + `],"additionalProperties":{"type":[` + repeat(15_000, `"null"`) +
		`]}}`, `more than 4194304 steps to compile`},
	"LongPointers": {`{"properties":{"` + strings.Repeat("k", 100_000) + `":{"properties":{` +
		repeat(3700, `"a@":{"type":"integer","minimum":@}`) + `}}}}`, `more than 4194304 steps to compile`},
	"LongPointersOfArrays": {`{"properties":{"` + strings.Repeat("k", 100_000) + `":{"properties":{` +
		repeat(2500, `"a@":{"items":{"type":"null"},"minItems":3}`) + `}}}}`, `more than 4194304 steps to compile`},
	"ManyValues":    {`{"enum":[` + strings.TrimSuffix(strings.Repeat("1,", 120_000), ",") + `]}`, `more than 12288 KiB of memory to compile`},
	"ManyObjects":   {`{"default":[` + strings.TrimSuffix(strings.Repeat("{},", 80_000), ",") + `]}`, `more than 12288 KiB of memory to compile`},
	"Repetitions":   {`{"type":"string","pattern":"(?:` + strings.Repeat("[a-z]", 190) + `){1000}"}`, `is too large`},
	"Classes":       {`{"type":"string","pattern":"` + strings.Repeat(`\\pL`, 300) + `"}`, `100000 states`},
	"FoldedClasses": {`{"type":"string","pattern":"(?i)` + strings.Repeat(`[\\pL\\pN]`, 90) + `"}`, `more than`},
	"Alternations":  {`{"type":"string","pattern":"^(` + strings.Repeat("a|", 500) + `b)*$"}`, ``},
	"Ambiguous":     {`{"type":"string","pattern":"(a|b)*a.{0,300}[cd].{0,300}e"}`, ``},
	"Stars":         {`{"type":"string","pattern":"` + strings.Repeat("(", 60) + "a" + strings.Repeat(")*", 60) + `"}`, ``},
	"Enum":          {`{"enum":[` + repeat(20_000, `"value@"`) + `]}`, `100000 states`},
	"EnumOfOne":     {`{"enum":[` + strings.TrimSuffix(strings.Repeat(`"a",`, 30_000), ",") + `]}`, `100000 states`},
	"Const":         {`{"const":"` + strings.Repeat("c", 250_000) + `"}`, `100000 states`},
	"DeepConst": {`{"const":` + strings.Repeat("[", 60) + `[` + repeat(9_000, `{"a":[@]}`) + `]` + strings.Repeat("]", 60) +
		`}`, `100000 states`},
	"Optional":        {`{"properties":{` + repeat(3_000, `"p@":{"type":"null"}`) + `}}`, ``},
	"OptionalFits":    {`{"properties":{` + repeat(1_500, `"p@":{"type":"null"}`) + `}}`, ``},
	"UnionOfOptional": {`{"anyOf":[` + repeat(250, `{"properties":{`+repeat(9, `"p@":{"type":"null"}`)+`}}`) + `]}`, ``},
	"Cycle": {`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"type":"null"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]}}}`,
		`refers to itself`},
	"Doubling": {`{"$ref":"#/$defs/d0","$defs":{` + doubling(60) + `}}`, ``},
	"DoublingObjects": {`{"$ref":"#/$defs/d0","$defs":{` + repeat(2000, `"d@":{"properties":{"x":{"$ref":"#/$defs/d0"},"y":{"$ref":"#/$defs/d0"}}}`) + `}}`,
		``},
	"Nesting": {`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"type":"null"},` +
		repeat(200, `{"type":"array","items":{"$ref":"#/$defs/a"}}`) + `]}}}`, ``},
	"Arrays":    {`{"anyOf":[` + repeat(250, `{"type":"array","prefixItems":[{"const":@}]}`) + `]}`, ``},
	"Products":  {`{"allOf":[` + repeat(200, `{"anyOf":[{"minLength":@},{"maxLength":@}]}`) + `]}`, `"#/allOf": "allOf" is not supported`},
	"Names":     {`{"type":"object","propertyNames":{"pattern":"(a*)*b"},"patternProperties":{"(a*)*":{}}}`, `is not supported`},
	"Deep":      {strings.Repeat(`{"items":`, 63) + `true` + strings.Repeat(`}`, 63), ``},
	"Deeper":    {strings.Repeat(`{"items":`, 20_000), `the nesting is more than 64 levels`},
	"Counted":   {`{"type":"array","maxItems":7000}`, ``},
	"Intervals": {`{"properties":{` + repeat(2_000, `"p@":{"type":"number","minimum":0.@1,"maximum":12345678.@9}`) + `}}`, `100000 states`},
}

// doubling are definitions of which each refers to the next one twice.
func doubling(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"d%d":{"type":"array","prefixItems":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}],"items":false}`, i, i+1, i+1))
	}
	return strings.Join(append(all, fmt.Sprintf(`"d%d":{"type":"null"}`, n)), ",")
}
