package constrain_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/model/constrain"
)

// TestAttacks holds schemas to the budgets.
func TestAttacks(t *testing.T) {
	tokens := largeVocabulary()[:20_000]
	tokens = append(tokens, constrain.Token{Kind: constrain.End})
	v := constrain.NewVocabulary(tokens)
	for name, c := range attacks {
		t.Run(name, func(t *testing.T) {
			err := withinBudget(t, []byte(c.schema), v, tokens, rand.New(rand.NewPCG(1, 2)))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("err = %v, want %q", err, c.want)
			}
		})
	}
}

// withinBudget compiles a schema and lets chance write the beginning of an answer. It fails
// if something goes beyond the budgets, and returns the error of the compilation.
func withinBudget(t *testing.T, schema []byte, v *constrain.Vocabulary, tokens []constrain.Token, random *rand.Rand) error {
	t.Helper()
	var g *constrain.Grammar
	var work int
	var err error
	// What is allocated in all is more than what is held at a time: lists grow.
	allocated := allocatedBy(func() { g, work, err = constrain.Compile(schema) })
	if most := constrain.MaxCompileWork + 1<<18; work > most {
		t.Errorf("the compilation takes %d steps, want at most %d", work, most)
	}
	if most := 4*constrain.MaxCompileBytes + 16*len(schema); allocated > most {
		t.Errorf("the compilation allocates %d bytes, want at most %d", allocated, most)
	}
	var refused *constrain.SchemaError
	if err != nil {
		if !errors.As(err, &refused) {
			t.Errorf("err = %v, want a SchemaError", err)
		}
		return err
	}
	if most := constrain.MaxGrammar + 4<<20; g.Bytes() > most {
		t.Errorf("the grammar takes %d bytes, want at most %d", g.Bytes(), most)
	}
	m := constrain.NewMatcher(t.Context(), g, v)
	for range 60 {
		var mask constrain.Set
		allocated := allocatedBy(func() { mask, err = m.Mask() })
		work, bytes := m.Spent()
		if most := constrain.MaxWork + 1<<18; work > most {
			t.Fatalf("a mask takes %d steps, want at most %d", work, most)
		}
		if most := constrain.MaxHeld + 1<<20; bytes > most && err == nil || allocated > 2*most+4<<20 {
			t.Fatalf("an answer takes %d bytes, and a mask allocates %d, want at most %d", bytes, allocated, most)
		}
		var limit *constrain.LimitError
		if errors.As(err, &limit) {
			if _, again := m.Mask(); again == nil {
				t.Error("the answer goes on after its budget")
			}
			return nil
		}
		if mask == nil { // the vocabulary lacks a token
			return nil
		}
		id := pick(mask, len(tokens), random)
		if tokens[id].Kind == constrain.End {
			return nil
		}
		if err := m.Advance(id); err != nil && !errors.As(err, &limit) {
			t.Fatal(err)
		}
	}
	return nil
}

// pick returns a token of a mask.
func pick(mask constrain.Set, tokens int, random *rand.Rand) int {
	for id := random.IntN(tokens); ; id = (id + 1) % tokens {
		if mask[id/64]>>(id%64)&1 == 1 {
			return id
		}
	}
}

// allocatedBy returns how many bytes are allocated meanwhile.
func allocatedBy(do func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// FuzzBudget holds any schema to the budgets.
func FuzzBudget(f *testing.F) {
	for _, c := range attacks {
		f.Add([]byte(c.schema), uint64(1))
	}
	tokens, v := vocabulary()
	f.Fuzz(func(t *testing.T, schema []byte, seed uint64) {
		if len(schema) <= 256<<10 {
			_ = withinBudget(t, schema, v, tokens, rand.New(rand.NewPCG(seed, 0)))
		}
	})
}

// TestBudgetEndsWithClient stops a compilation and an answer whose client is gone.
func TestBudgetEndsWithClient(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	v := constrain.NewVocabulary(largeVocabulary()[:20_000])
	m := constrain.NewMatcher(ctx, grammarOf(t, attacks["OptionalFits"].schema), v)
	cancel()
	if _, err := constrain.Schema(ctx, []byte(attacks["Const"].schema)); !errors.Is(err, context.Canceled) {
		t.Errorf("the compilation ends with %v", err)
	}
	for range 100 {
		mask, err := m.Mask()
		if err == nil {
			err = m.Advance(pick(mask, 20_000, rand.New(rand.NewPCG(1, 1))))
		}
		if errors.Is(err, context.Canceled) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Log("the answer was too easy to be stopped")
}

// TestLimitNamesPart says where the answer stands, and which bound it meets.
func TestLimitNamesPart(t *testing.T) {
	g := grammarOf(t, `{"type":"object","properties":{"a":{"type":"string","pattern":"(a|b)*a.{0,300}[cd].{0,300}e"}},"required":["a"]}`)
	tokens := largeVocabulary()
	ids := idsOf(tokens)
	m := constrain.NewMatcher(t.Context(), g, constrain.NewVocabulary(tokens))
	for _, id := range encode(ids, `{"a":"`) {
		if err := m.Advance(id); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 600 {
		_, err := m.Mask()
		if err == nil {
			err = m.Advance(ids[string("aabacad"[i%7])])
		}
		if err != nil {
			if want := `the schema at "#/properties/a/pattern" allows too many ways to continue: a token takes more than`; !strings.Contains(err.Error(), want) {
				t.Errorf("err = %v, want %s", err, want)
			}
			return
		}
	}
	t.Error("the limit did not come")
}
