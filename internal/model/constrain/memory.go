package constrain

// MaxCached limits the memory of the grammars of a Cache, in bytes.
const MaxCached = 16 << 20

// Memory returns the bytes that answers of given forms take in a process with a model
// of so many tokens and a Cache: so many answers at a time, each with the memory of
// its automaton.
func Memory(tokens, answers int) int64 {
	perAnswer := maxHeld + 100*maxTables
	return int64(tokens)*tokenBytes + maxLocals + MaxCached + int64(answers)*int64(perAnswer)
}

// tokenBytes is what a token takes in a Vocabulary.
const tokenBytes = 128

// Bytes returns the memory of a grammar, with what is known of its states. It grows
// while answers follow the grammar.
func (gr *Grammar) Bytes() int {
	n := 16*len(gr.nodes) + 64*len(gr.rules) + 4<<10 + gr.own.size()
	gr.thoughts.mu.Lock()
	defer gr.thoughts.mu.Unlock()
	if gr.thoughts.grammar != nil {
		n += gr.thoughts.grammar.Bytes()
	}
	return n
}

func (k *locals) size() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.bytes
}

// bytes returns the memory of a vocabulary, without the texts of its tokens.
func (v *Vocabulary) bytes() int {
	n := 24*len(v.tokens) + 4*(len(v.control)+len(v.ends)) + 128
	n += v.words.bytes()
	for _, t := range v.words.kinds {
		n += t.bytes()
	}
	return n
}

func (t *tree) bytes() int {
	n := 128 + 16*len(t.branches) + 4*len(t.order) + 8*len(t.follow)
	for _, s := range t.sets {
		n += 64 + 8*len(s)
	}
	return n
}
