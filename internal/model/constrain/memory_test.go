package constrain_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/model/constrain"
)

// TestMemory compares the memory that is planned with that of vocabularies.
func TestMemory(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		tokens, answers int
		want            int64 // MiB
	}{
		{0, 0, 30}, {512, 1, 41}, {32_000, 4, 78}, {128_256, 1, 56}, {128_256, 4, 89}, {151_936, 32, 402},
	} {
		if got := constrain.Memory(c.tokens, c.answers); got/mib != c.want {
			t.Errorf("%d tokens and %d answers take %d MiB, want %d", c.tokens, c.answers, got/mib, c.want)
		}
	}
	large := largeVocabulary()
	for _, tokens := range [][]constrain.Token{large, large[:32_000]} {
		had := constrain.VocabularyBytes(constrain.NewVocabulary(tokens))
		planned := constrain.Memory(len(tokens), 0) - constrain.Memory(0, 0)
		t.Logf("%d tokens take %d bytes, %d are planned", len(tokens), had, planned)
		if int64(had) > planned || int64(had) < planned/2 {
			t.Errorf("a vocabulary of %d tokens takes %d bytes, %d are planned", len(tokens), had, planned)
		}
	}
}

// TestGrammarBytes grows while answers follow the grammar, up to a limit.
func TestGrammarBytes(t *testing.T) {
	tokens := largeVocabulary()
	ids, v := idsOf(tokens), constrain.NewVocabulary(tokens)
	for _, c := range shapes {
		g := grammarOf(t, c.schema)
		before := g.Bytes()
		thinking, err := g.AfterThoughts()
		if err != nil {
			t.Fatal(err)
		}
		if g.Bytes() < 2*before {
			t.Errorf("%s: the grammar after thoughts does not count", c.name)
		}
		m := constrain.NewMatcher(t.Context(), thinking, v)
		for _, id := range encode(ids, "So.</think>"+c.answer) {
			maskOf(t, m)
			if err := m.Advance(id); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		after := g.Bytes()
		if t.Logf("%s: %d bytes, and %d after an answer", c.name, before, after); after <= 2*before || after > 2*before+3<<20 {
			t.Errorf("%s: the grammar takes %d bytes, and %d after an answer", c.name, before, after)
		}
	}
}
