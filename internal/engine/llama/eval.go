package llama

import "runtime/debug"

// A want is what a batch computes of the final state of a token.
type want int

const (
	wantNothing want = iota // only keys and values
	wantScores              // the scores of the next token
	wantState               // the state, for the pool of its sequence
)

// A span is the next n tokens of a sequence in a batch. Their blocks must be
// reserved.
type span struct {
	seq        *sequence
	n          int
	wantScores bool // after the last token
	// scores is what eval computed, until the next call. The reader may change it.
	scores []float32
}

// eval evaluates a batch of tokens. The results of a sequence are the same bits
// in each batch. Before each layer eval calls stop and returns its error. With an
// error the sequences are as before. That of a truncated file is Corrupt.
func (r *runner) eval(stop func() error, spans []span) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if gone := faulted(recover()); gone != nil {
			err = gone
		}
	}()
	r.enter(spans)
	for l := range r.model.layers {
		if err := stop(); err != nil {
			return err
		}
		r.layerIndex, r.layer = l, &r.model.layers[l]
		r.evalLayer(l == len(r.model.layers)-1)
		if err := r.pool.err(); err != nil {
			return err
		}
	}
	if err := r.score(spans); err != nil {
		return err
	}
	for _, s := range spans {
		s.seq.evaluated += s.n
	}
	return nil
}

// enter embeds the tokens of a batch.
func (r *runner) enter(spans []span) {
	r.rows = r.rows[:0]
	half := len(r.model.rope.freqs)
	for _, s := range spans {
		for t := range s.n {
			i, position := len(r.rows), s.seq.evaluated+t
			r.model.embed(s.seq.tokens[position], r.row(r.x, i))
			r.model.rope.angles(position, r.cos[i*half:(i+1)*half], r.sin[i*half:(i+1)*half])
			wanted := wantNothing
			switch {
			case s.wantScores && t == s.n-1:
				wanted = wantScores
			case s.seq.states != nil:
				wanted = wantState
			}
			r.rows = append(r.rows, row{s.seq, position, wanted})
		}
	}
	r.setRows(r.rows)
}

func (r *runner) setRows(rows []row) {
	r.rows = rows
	r.normed.n, r.mixed.n, r.gate.n = len(rows), len(rows), len(rows)
}

// keepRows moves the rows that are still wanted, with their residual stream and
// query, to the front.
func (r *runner) keepRows(wanted func(want) bool) {
	width := r.model.shape.QDim()
	kept := r.rows[:0]
	for i, row := range r.rows {
		if !wanted(row.wanted) {
			continue
		}
		if to := len(kept); to < i {
			copy(r.row(r.x, to), r.row(r.x, i))
			copy(r.query[to*width:(to+1)*width], r.query[i*width:(i+1)*width])
		}
		kept = append(kept, row)
	}
	r.setRows(kept)
}

// score computes what the spans want of the final states.
func (r *runner) score(spans []span) error {
	r.poolStates()
	r.keepRows(func(w want) bool { return w == wantScores })
	if len(r.rows) == 0 {
		return nil
	}
	r.each((*runner).finish)
	r.multiply(&r.normed, part{r.model.classifier, r.logits})
	rows, vocabulary := 0, r.model.shape.VocabSize
	for i := range spans {
		if spans[i].wantScores {
			spans[i].scores = r.logits[rows*vocabulary : (rows+1)*vocabulary]
			rows++
		}
	}
	return r.pool.err()
}

func (r *runner) poolStates() {
	for i, row := range r.rows {
		if row.wanted == wantState {
			r.finish(i)
			row.seq.states.add(r.normed.at(i))
		}
	}
}

func (r *runner) finish(i int) { r.norm(i, r.model.finalNorm) }
