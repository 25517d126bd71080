package constrain

// Allows asks for one token alone, without the tree of the vocabulary.
func (m *Matcher) Allows(token int) bool { return m.after(token) != nil }

// NewDetailedVocabulary has trees by kinds of all branches with two tokens.
func NewDetailedVocabulary(tokens []Token) *Vocabulary { return newVocabulary(tokens, 2) }

// VocabularyBytes is the memory that a vocabulary takes.
func VocabularyBytes(v *Vocabulary) int { return v.bytes() }

// Limits of a compilation and of a token.
const (
	MaxCompileWork  = maxCompileWork
	MaxCompileBytes = maxCompileBytes
	MaxWork         = maxWork
	MaxHeld         = maxHeld
	MaxGrammar      = maxGrammar
	MaxUnion        = maxUnion
)

// Compile is Schema, and tells the work that it took.
func Compile(schema []byte) (g *Grammar, work int, err error) {
	b := newBudget(nil)
	g, err = schemaWithin(b, schema)
	return g, maxCompileWork - b.work, err
}

// Spent is the work of the latest token, and the memory of the answer.
func (m *Matcher) Spent() (work, bytes int) {
	return maxWork - m.a.budget.work, maxHeld - m.a.budget.bytes
}
