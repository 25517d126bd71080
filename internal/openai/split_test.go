package openai

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is valid is taken apart as encoding/json would.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, ` { "a" : [ 1 , {"b":"]}"} ] , "c":"\\\"" ,"\u0064":null,"a":-1e3}`, `[[],{},"\\",true , 1.5]`,
		`"a\\"`, `"\""`, `""`, "\"\xff\"", `"жук"`, `{"\"":"\\\\","b":"\\\\\""}`, ` 12 `, "\t\"x\"\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		switch kindOf(raw) {
		case "an object":
			var want map[string]json.RawMessage
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, allMembers(raw)); d != "" {
				t.Error(d)
			}
		case "an array":
			var want []json.RawMessage
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, allElements(raw)); d != "" {
				t.Error(d)
			}
		case "a string":
			var want string
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			if got, ok := unquote(raw); !ok || got != want {
				t.Errorf("%q, %t, want %q", got, ok, want)
			}
		default:
			if got, ok := unquote(raw); ok {
				t.Errorf("%s is the string %q", raw, got)
			}
		}
	})
}

func allMembers(raw []byte) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for key, value := range members(raw) {
		if name, ok := unquote(key); ok {
			m[name] = value
		}
	}
	return m
}

func allElements(raw []byte) []json.RawMessage {
	all := []json.RawMessage{}
	for _, item := range elements(raw) {
		all = append(all, item)
	}
	return all
}
