package adapter

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFill(t *testing.T) {
	cases := map[string]struct{ to, from, want string }{
		"Absent":      {`{"a":1}`, `{"a":2,"b":3}`, `{"a":1,"b":3}`},
		"Zero":        {`{"a":0}`, `{"a":2}`, `{"a":0}`},
		"Empty":       {`{"a":[],"b":{}}`, `{"a":[1],"b":{"c":1}}`, `{"a":[],"b":{}}`},
		"Nothing":     {`{"a":1}`, `{"a":2}`, `{"a":1}`},
		"Map":         {`{"tags":{"a":"1"}}`, `{"tags":{"b":"2"}}`, `{"tags":{"a":"1"}}`},
		"Parts":       {`{"streams":[{"name":"a"},{"max":0,"name":"b"}]}`, `{"streams":[{"max":1,"name":"a"},{"max":2,"name":"b"}]}`, `{"streams":[{"max":1,"name":"a"},{"max":0,"name":"b"}]}`},
		"OtherLength": {`{"streams":[{"name":"a"}]}`, `{"streams":[{"name":"a","max":1},{}]}`, `{"streams":[{"name":"a"}]}`},
		"BigNumber":   {`{}`, `{"a":9007199254740993}`, `{"a":9007199254740993}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			to, from := decode(t, c.to), decode(t, c.from)
			filled := fill(to, from)
			got, err := json.Marshal(to)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if want := c.want != c.to; filled != want {
				t.Errorf("fill = %v, want %v", filled, want)
			}
		})
	}
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	out, err := fields(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
