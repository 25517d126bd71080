package constrain

import (
	"slices"
	"sync"
	"sync/atomic"
)

// locals remembers locals of one vocabulary at a time. It is safe for concurrent
// use.
type locals struct {
	mu     sync.Mutex
	of     *Vocabulary
	most   int               // bytes
	byNode map[string]*local // by the nodes of the threads
	sets   map[uint64]Set    // of the locals, by their hash: many are the same
	bytes  int
	// generation counts how often they were forgotten. States that have them should be
	// forgotten too.
	generation atomic.Int32
}

// maxLocals limits the memory of the locals of all grammars, and maxOwn that of those of
// one, in bytes.
const (
	maxLocals = 2 << 20
	maxOwn    = 2 << 20
)

func (k *locals) get(of *Vocabulary, key string) *local {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of != of {
		return nil
	}
	return k.byNode[key]
}

// put remembers a local, unless it is large. It reports whether it does.
func (k *locals) put(of *Vocabulary, key string, l *local) bool {
	hash := l.all.hash()
	size := l.bytes() - 8*len(l.all) + len(key)
	if size > k.most/4 {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of != of || k.bytes+size+8*len(l.all) > k.most {
		k.of, k.byNode, k.sets, k.bytes = of, map[string]*local{}, map[uint64]Set{}, 0
		k.generation.Add(1)
	}
	if slices.Equal(k.sets[hash], l.all) {
		l.all = k.sets[hash]
	} else {
		k.sets[hash] = l.all
		size += 8 * len(l.all)
	}
	k.byNode[key] = l
	k.bytes += size
	return true
}

// hash returns a number that is the same for equal sets.
func (s Set) hash() uint64 {
	h := uint64(14695981039346656037) // FNV-1a, by words
	for _, word := range s {
		h = (h ^ word) * 1099511628211
		h ^= h >> 32
	}
	return h
}
