package constrain

// Allows asks for one token alone, without the tree of the vocabulary.
func (m *Matcher) Allows(token int) bool { return m.after(token) != nil }

// NewDetailedVocabulary has trees by kinds of all branches with two tokens.
func NewDetailedVocabulary(tokens []Token) *Vocabulary { return newVocabulary(tokens, 2) }

// VocabularyBytes is the memory that a vocabulary takes.
func VocabularyBytes(v *Vocabulary) int { return v.bytes() }
