package openai

import "slices"

// A Request holds what the parts between client and engine need to know of a
// request, whatever its operation. The rest stays in its body.
type Request struct {
	Operation    Operation
	Model        string // as the client names it
	Stream       bool
	IncludeUsage bool // stream_options.include_usage
	Reasoning    Reasoning
	// Opening is the part of the conversation that each of its turns repeats:
	// the messages up to the first of the user. It shares the memory of the
	// decoded request. nil: the operation has no conversations.
	Opening      []Message
	PromptTokens int      // estimate
	MaxTokens    int      // of the answer; 0 means up to the end of the context
	Sampling     Sampling // as far as the request sets it
	Stop         []string // stop sequences, none of them empty
	Ignored      []string // parameters that only some engines honour, if any, sorted
	LeftOut      []string // kinds of parts that no engine gets, sorted
	Features     Features // that it needs of the engine
	Base64       bool     // embeddings in base64
	Inputs       int      // of embeddings: servers count each as a request; 0 is one
	Choices      int      // answers that the client wants, above 1; 0 is one

	needs  []Need
	encode func(model string, choice int) ([]byte, error)
}

// Sampling holds the hints that some engines honour and others do not. nil
// means that the request does not set the hint.
type Sampling struct {
	Temperature *float64 // 0 to 2
	TopP        *float64 // 0 to 1
	Seed        *int64
}

// Body returns the body in the normal form of the operation, with the given
// model: this is the body that is queued for a choice, which counts from 0.
func (r Request) Body(model string, choice int) ([]byte, error) { return r.encode(model, choice) }

// Unhonoured returns the names of the parameters that the request sets and that
// are not among the honoured ones, sorted.
func (r Request) Unhonoured(honoured []string) []string {
	out := r.Sampling.unhonoured(honoured)
	for _, name := range r.Ignored {
		if !slices.Contains(honoured, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// DecodeChat decodes the body of POST /v1/chat/completions; see ParseChat.
func DecodeChat(body []byte) (Request, error) { return summarize(OperationChat, ParseChat, body) }

// DecodeCompletion decodes the body of POST /v1/completions; see
// ParseCompletion. The normal form of a completion is that of a chat.
func DecodeCompletion(body []byte) (Request, error) {
	return summarize(OperationCompletion, ParseCompletion, body)
}

func summarize(op Operation, parse func([]byte) (ChatRequest, error), body []byte) (Request, error) {
	chat, err := parse(body)
	if err != nil {
		return Request{}, err
	}
	return chat.Request(op), nil
}

// Request returns what the parts between client and engine need to know of the
// chat, which stands for a request of the given operation.
func (r ChatRequest) Request(op Operation) Request {
	return Request{
		Operation: op, Model: r.Model, Stream: r.Stream, IncludeUsage: r.IncludeUsage, Reasoning: r.Reasoning,
		Opening: opening(r.Messages), PromptTokens: r.promptTokens(), MaxTokens: r.MaxTokens,
		Sampling: Sampling{Temperature: r.Temperature, TopP: r.TopP, Seed: r.Seed}, Stop: r.Stop, Ignored: r.Ignored(), LeftOut: r.LeftOut,
		Features: features(r.Needs), needs: r.Needs, Choices: r.Choices,
		encode: func(model string, choice int) ([]byte, error) {
			r := r.choice(choice)
			r.Model = model
			return r.MarshalJSON() // not json.Marshal, which would scan the result once more
		},
	}
}

// promptTokens estimates the prompt with the tools and schemas in it.
func (r ChatRequest) promptTokens() int {
	n := EstimateTokens(r.Messages)
	for _, raw := range r.Featured {
		n += (len(raw) + 3) / 4
	}
	return n
}

// opening returns the messages up to the first of the user.
func opening(messages []Message) []Message {
	for i, m := range messages {
		if m.Role == User {
			return messages[:i+1]
		}
	}
	return messages
}

// EstimateTokens estimates how many tokens messages have: one for four bytes of
// text, the usual rule of thumb for byte-pair vocabularies, and four for the
// frame of each turn.
func EstimateTokens(messages []Message) int {
	n := 0
	for _, m := range messages {
		n += (len(m.Content)+len(m.ToolCalls)+3)/4 + 4
	}
	return n
}
