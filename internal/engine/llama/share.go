package llama

const (
	// batchSize is the number of tokens of a batch while prompts are evaluated.
	batchSize = 32
	// leastPrompt is how many tokens of prompts a batch has at least, however
	// many sequences generate.
	leastPrompt = 8
)

// share says how many tokens of each sequence the next batch evaluates. Each
// sequence with one pending token gets it: it generates. Those with more, which
// have a prompt, divide the rest of the batch: the one whose turn it is takes as
// much as it can, then those after it.
func share(pending []int, turn int) []int {
	counts := make([]int, len(pending))
	var prompts []int
	left := batchSize
	for i, n := range pending {
		switch {
		case n == 1:
			counts[i] = 1
			left--
		case n > 1:
			prompts = append(prompts, i)
		}
	}
	left = max(left, leastPrompt)
	for k := range prompts {
		i := prompts[(turn+k)%len(prompts)]
		counts[i] = min(pending[i], left)
		left -= counts[i]
	}
	return counts
}
