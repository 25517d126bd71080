package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnhonoured(t *testing.T) {
	all := `{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":1,"top_p":1,"seed":0}`
	none := `{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":null,"stop":"x","max_tokens":1}`
	cases := map[string]struct {
		body, honours string
		want          []string
	}{
		"None":     {all, "temperature, top_p,seed", nil},
		"Some":     {all, "seed", []string{"temperature", "top_p"}},
		"All":      {all, " ,", []string{"seed", "temperature", "top_p"}},
		"Stranger": {all, "temperature,top_p,mirostat", []string{"seed"}},
		"NotAsked": {none, "", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := DecodeChat([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, r.Unhonoured(ParseHonours(c.honours))); d != "" {
				t.Error(d)
			}
		})
	}
}
