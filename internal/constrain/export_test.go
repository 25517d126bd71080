package constrain

// Allows asks for one token alone, without the tree of the vocabulary.
func (m *Matcher) Allows(token int) bool { return m.after(token) != nil }
