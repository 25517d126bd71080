package llama

// choosing chooses the next tokens of a batch, for several answers at a time.
type choosing struct {
	jobs   []*job
	scores [][]float32 // of each job
}

// do lets every answer whose scores the batch has choose a token. The spans are
// those of the jobs in the batch.
func (c *choosing) do(r *runner, jobs []*job, spans []span) {
	c.jobs, c.scores = c.jobs[:0], c.scores[:0]
	for _, j := range jobs {
		if j.n == 0 {
			continue
		}
		if spans[0].wantScores {
			c.jobs, c.scores = append(c.jobs, j), append(c.scores, spans[0].scores)
		}
		spans = spans[1:]
	}
	each := 16 * r.model.shape.VocabSize // as much work as so many multiplications
	r.pool.do(c, len(c.jobs), work/each)
}

func (c *choosing) run(_, lo, hi int) {
	for i := lo; i < hi; i++ {
		j := c.jobs[i]
		j.token, j.failed = j.answer.choose(c.scores[i])
	}
}
