package openai

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseEmbedding(t *testing.T) {
	cases := map[string]struct {
		body  string
		want  EmbeddingRequest
		param string // of the error
	}{
		"Text":         {body: `{"model":"m","input":"a"}`, want: EmbeddingRequest{Model: "m", Input: json.RawMessage(`["a"]`), Count: 1}},
		"Texts":        {body: `{"model":"m","input":["a","b"],"encoding_format":"base64","user":"u"}`, want: EmbeddingRequest{Model: "m", Input: json.RawMessage(`["a","b"]`), Count: 2, Base64: true, User: "u"}},
		"Tokens":       {body: `{"model":"m","input":[1,2],"encoding_format":"float"}`, want: EmbeddingRequest{Model: "m", Input: json.RawMessage(`[[1,2]]`), Count: 1}},
		"TokenLists":   {body: `{"model":"m","input":[[1],[2,3]],"x":1}`, want: EmbeddingRequest{Model: "m", Input: json.RawMessage(`[[1],[2,3]]`), Count: 2, Extra: map[string]json.RawMessage{"x": json.RawMessage("1")}}},
		"NoModel":      {body: `{"input":"a"}`, param: "model"},
		"NoInput":      {body: `{"model":"m"}`, param: "input"},
		"EmptyInput":   {body: `{"model":"m","input":[]}`, param: "input"},
		"InputType":    {body: `{"model":"m","input":{}}`, param: "input"},
		"Mixed":        {body: `{"model":"m","input":["a",1]}`, param: "input[1]"},
		"Objects":      {body: `{"model":"m","input":[{}]}`, param: "input"},
		"Fraction":     {body: `{"model":"m","input":[1.5]}`, param: "input"},
		"TextInTokens": {body: `{"model":"m","input":[["a"]]}`, param: "input[0]"},
		"Format":       {body: `{"model":"m","input":"a","encoding_format":"hex"}`, param: "encoding_format"},
		"Dimensions":   {body: `{"model":"m","input":"a","dimensions":0}`, param: "dimensions"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseEmbedding([]byte(c.body))
			var e *Error
			if c.param != "" {
				if !errors.As(err, &e) || e.Param != c.param {
					t.Fatalf("err = %v, want one of %q", err, c.param)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	r, err := DecodeEmbedding([]byte(`{"model":"m","input":"a","dimensions":3}`))
	if err != nil || r.Features != FeatureDimensions || r.Refusal("").Param != "dimensions" || r.Refusal(FeatureDimensions) != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

func FuzzParseEmbedding(f *testing.F) {
	for _, seed := range []string{`{"model":"m","input":"a"}`, `{"model":"m","input":[[1],[2]],"dimensions":3,"encoding_format":"base64","x":{}}`, `{"model":"m","input":[ 1 ]}`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := ParseEmbedding(body)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Status != 400 {
				t.Fatalf("err = %#v", err)
			}
			return
		}
		var inputs []json.RawMessage
		if err := json.Unmarshal(r.Input, &inputs); err != nil || len(inputs) != r.Count || r.Count < 1 {
			t.Fatalf("%s holds %d inputs, not %d: %v", r.Input, len(inputs), r.Count, err)
		}
		once, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseEmbedding(once)
		if err != nil || again.Count != r.Count || again.Base64 != r.Base64 || again.Dimensions != r.Dimensions {
			t.Fatalf("cannot read back %s: %v", once, err)
		}
	})
}
