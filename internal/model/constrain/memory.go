package constrain

// MaxCached limits the memory of the grammars of a Cache, in bytes.
const MaxCached = 16 << 20

// maxGrammar limits the memory of a grammar that an answer uses after the cache has
// forgotten it, in bytes: of its nodes, of those after thoughts, and of its locals.
const maxGrammar = 2*16*maxNodes + maxOwn

// Memory returns the bytes that answers of given forms take in a process with a model
// of so many tokens and a Cache, which compiles one form at a time: so many answers at a
// time, each with its automaton and a grammar.
func Memory(tokens, answers int) int64 {
	return int64(tokens)*tokenBytes + maxLocals + MaxCached + maxCompileBytes + int64(answers)*(maxHeld+maxGrammar)
}

// tokenBytes is what a token takes in a Vocabulary.
const tokenBytes = 128

// Bytes returns the memory of a grammar, with what is known of its states. It grows
// while answers follow the grammar.
func (gr *Grammar) Bytes() int {
	n := gr.size() + gr.own.size()
	gr.thoughts.mu.Lock()
	defer gr.thoughts.mu.Unlock()
	if gr.thoughts.grammar != nil {
		n += gr.thoughts.grammar.size()
	}
	return n
}

// size returns the memory of a grammar itself.
func (gr *Grammar) size() int { return 16*len(gr.nodes) + 128*len(gr.rules) + 4<<10 }

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
