package openai

// An Operation names what a request asks of an engine. It travels with the
// request from the gateway's endpoint to the engine's handler.
//
// The words "response" and "rerank" are reserved for the operations of those
// names.
type Operation string

// The operations.
const (
	OperationChat       Operation = "chat"
	OperationCompletion Operation = "completion"
	OperationEmbedding  Operation = "embedding"
)

// OrChat returns the operation, or OperationChat for "": requests that were
// queued before they carried an operation are chats.
func (o Operation) OrChat() Operation {
	if o == "" {
		return OperationChat
	}
	return o
}

// HeaderOperations is the header in which an engine lists, in its answers, the
// operations that it serves, separated by commas. An engine that does not send
// it serves those of DefaultOperations.
const HeaderOperations = "X-Koldun-Operations"

// DefaultOperations returns the operations of an engine, and of a runner, that
// lists none.
func DefaultOperations() []Operation { return []Operation{OperationChat, OperationCompletion} }

// ParseOperations reads the value of HeaderOperations.
func ParseOperations(header string) []Operation {
	var out []Operation
	for _, word := range parseList(header) {
		out = append(out, Operation(word))
	}
	return out
}
