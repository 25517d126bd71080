package tokenizer

// A merger joins neighbours that form an ordinary token, highest score first,
// leftmost on ties.
//
// Symbols are a linked list over text; a heap holds the possible joins. The
// merger drops a join from the heap if its symbols have changed since it was
// added, so that each of at most n-1 joins costs O(log n).
type merger struct {
	joiner  joiner
	symbols []symbol
	heap    []join
}

// A joiner says which token two neighbours form, if any, and its score.
type joiner interface {
	join(left, right *symbol) (id int32, score float32, ok bool)
}

// byText joins neighbours whose common text is an ordinary token.
type byText struct {
	t    *tokenIndex
	text string
}

func (j byText) join(left, right *symbol) (id int32, score float32, ok bool) {
	if int(right.end-left.start) > j.t.longest {
		return 0, 0, false
	}
	found, ok := j.t.ordinal[j.text[left.start:right.end]]
	if !ok {
		return 0, 0, false
	}
	return int32(found), j.t.tokens[found].Score, true
}

// A symbol is a token and its bytes, text[start:end].
type symbol struct {
	id         int32
	start, end int32
	prev, next int32 // -1 at the ends
	gone       bool
}

// A join replaces symbol left and the next one by token id. It is valid while
// both still form that token.
type join struct {
	score float32
	id    int32
	left  int32
}

func (m *merger) add(id, start, end int) {
	n := int32(len(m.symbols))
	if n > 0 {
		m.symbols[n-1].next = n
	}
	m.symbols = append(m.symbols, symbol{id: int32(id), start: int32(start), end: int32(end), prev: n - 1, next: -1})
}

// reset removes all symbols and keeps the memory.
func (m *merger) reset() { m.symbols, m.heap = m.symbols[:0], m.heap[:0] }

// merge joins until no neighbours form a token.
func (m *merger) merge() {
	for i := range m.symbols {
		m.consider(int32(i))
	}
	for len(m.heap) > 0 {
		j := m.pop()
		left := &m.symbols[j.left]
		if left.gone || left.next < 0 {
			continue
		}
		right := &m.symbols[left.next]
		if id, _, ok := m.joiner.join(left, right); !ok || id != j.id {
			continue
		}
		right.gone = true
		left.id, left.end, left.next = j.id, right.end, right.next
		if left.next >= 0 {
			m.symbols[left.next].prev = j.left
			m.consider(j.left)
		}
		if left.prev >= 0 {
			m.consider(left.prev)
		}
	}
}

// consider adds the join of symbol i and the next one if they form a token.
func (m *merger) consider(i int32) {
	left := &m.symbols[i]
	if left.next < 0 {
		return
	}
	if id, score, ok := m.joiner.join(left, &m.symbols[left.next]); ok {
		m.push(join{score: score, id: id, left: i})
	}
}

// before orders joins. Symbols keep their index, so left is the position.
func (a join) before(b join) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return a.left < b.left
}

func (m *merger) push(j join) {
	m.heap = append(m.heap, j)
	i := len(m.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !m.heap[i].before(m.heap[up]) {
			return
		}
		m.heap[i], m.heap[up] = m.heap[up], m.heap[i]
		i = up
	}
}

func (m *merger) pop() join {
	top := m.heap[0]
	n := len(m.heap) - 1
	m.heap[0] = m.heap[n]
	m.heap = m.heap[:n]
	for i := 0; ; {
		child := 2*i + 1
		if child >= n {
			return top
		}
		if child+1 < n && m.heap[child+1].before(m.heap[child]) {
			child++
		}
		if !m.heap[child].before(m.heap[i]) {
			return top
		}
		m.heap[i], m.heap[child] = m.heap[child], m.heap[i]
		i = child
	}
}
