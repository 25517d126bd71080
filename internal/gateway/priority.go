package gateway

import "github.com/gorizond/koldun/internal/bus"

// priorityOf is the priority of a caller's request: what its header asks for,
// up to what its token allows.
func priorityOf(who caller, asked string) (bus.Priority, *refusal) {
	wished, ok := bus.ParsePriority(asked)
	if !ok {
		return "", errNoPriority()
	}
	most := bus.PriorityNormal
	if who.token != nil {
		most, _ = bus.ParsePriority(who.token.Metadata[bus.MetadataPriority])
	}
	return wished.AtMost(most), nil
}
