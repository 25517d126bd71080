package gateway

import "github.com/gorizond/koldun/internal/queue"

// priorityOf is the priority of a caller's request: what its header asks for,
// up to what its token allows.
func priorityOf(who caller, asked string) (queue.Priority, *refusal) {
	wished, ok := queue.ParsePriority(asked)
	if !ok {
		return "", errNoPriority()
	}
	most := queue.PriorityNormal
	if who.token != nil {
		most, _ = queue.ParsePriority(who.token.Metadata[queue.MetadataPriority])
	}
	return wished.AtMost(most), nil
}
