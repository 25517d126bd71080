package gateway

import "github.com/gorizond/koldun/internal/fault"

// An Isolation says which requests share a pool of runners.
type Isolation string

// The kinds of isolation.
const (
	IsolateModel        Isolation = "model"        // all requests for a model
	IsolateToken        Isolation = "token"        // those with one API token
	IsolateConversation Isolation = "conversation" // those of one conversation
)

// ParseIsolation reads the value of a flag. "" is IsolateModel.
func ParseIsolation(word string) (Isolation, error) {
	switch i := Isolation(word); i {
	case "":
		return IsolateModel, nil
	case IsolateModel, IsolateToken, IsolateConversation:
		return i, nil
	}
	return "", fault.Errorf(fault.Invalid, "cannot isolate by %q: it is none of model, token, conversation", word)
}
