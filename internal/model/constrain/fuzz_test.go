package constrain_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/gorizond/koldun/internal/model/constrain"
)

// FuzzSchema compiles any schema and lets chance write an answer: it must be JSON,
// and the masks must agree with the grammar.
func FuzzSchema(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		f.Add([]byte(randomSchema(random)), uint64(1))
	}
	f.Add([]byte(`{"type":"string","pattern":"^(a|b[^c]*)+$"}`), uint64(2))
	f.Fuzz(func(t *testing.T, schema []byte, seed uint64) {
		if len(schema) > 4<<10 {
			return
		}
		g, err := constrain.Schema(t.Context(), schema)
		if err != nil {
			return
		}
		text, ok := write(t, g, rand.New(rand.NewPCG(seed, 0)))
		if ok && !json.Valid([]byte(text)) {
			t.Errorf("%s allows %q", schema, text)
		}
	})
}

// FuzzAccepts compares the grammar of all objects with the decoder of Go: what the
// grammar accepts is a JSON object.
func FuzzAccepts(f *testing.F) {
	f.Add(`{"a": [1, -2.5e3, "\u00e9\ud83d\ude00", {}, [], null, true]}`)
	f.Add(`{"a":"\ud83d"}`)
	g := constrain.Object()
	f.Fuzz(func(t *testing.T, text string) {
		if !g.Accepts(text) {
			return
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Errorf("the grammar accepts %q: %v", text, err)
		}
	})
}
