package openai

// MaxChoices is the most answers to one request.
const MaxChoices = 8

// FeatureChoices is the feature of a gateway that gives several answers to one chat or
// completion. No engine needs it.
const FeatureChoices Features = "n"

func parseChoices(f *fields, r *ChatRequest) {
	if n, ok := f.integer("n", 1, MaxChoices); ok && n > 1 {
		r.Choices = int(n)
	}
}

// choice returns the request for one of several answers, which count from 0. With a
// seed, each of them gets a different one, or all would be alike.
func (r ChatRequest) choice(index int) ChatRequest {
	r.Choices = 0
	if r.Seed != nil && index > 0 {
		seed := *r.Seed + int64(index)
		r.Seed = &seed
	}
	return r
}

// SumUsage returns the usage of several answers to one request. The prompt counts once,
// and an answer without usage not at all.
func SumUsage(answers []*Usage) *Usage {
	prompt, completion := 0, 0
	var cached, reasoned *int
	for _, u := range answers {
		if u == nil {
			continue
		}
		prompt, completion = max(prompt, u.PromptTokens), completion+u.CompletionTokens
		if n := u.Cached(); n != nil && (cached == nil || *n < *cached) { // the prompt is counted once, as it was computed
			cached = n
		}
		if n := u.Reasoned(); n != nil {
			sum := *n
			if reasoned != nil {
				sum += *reasoned
			}
			reasoned = &sum
		}
	}
	return NewUsage(prompt, completion).WithDetails(cached, reasoned)
}
