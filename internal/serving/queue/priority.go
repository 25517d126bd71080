package queue

// A Priority is the priority of a request. The gateway sets it from the header
// HeaderPriority, limited by the client's token, and the dispatcher gives each
// priority its share of the tokens while its requests wait.
type Priority string

// The priorities. High gets the largest share, and low is never starved.
const (
	PriorityHigh   Priority = "high"
	PriorityNormal Priority = "normal" // "" is the same
	PriorityLow    Priority = "low"
)

const (
	// HeaderPriority is the HTTP header with the requested priority.
	HeaderPriority = "x-koldun-priority"
	// MetadataPriority is the key in a token's metadata with the highest
	// priority of its requests. The default is PriorityNormal.
	MetadataPriority = "priority"
)

// ParsePriority parses the name of a priority; "" is PriorityNormal.
func ParsePriority(name string) (p Priority, ok bool) {
	switch p := Priority(name); p {
	case PriorityHigh, PriorityNormal, PriorityLow:
		return p, true
	case "":
		return PriorityNormal, true
	}
	return PriorityNormal, false
}

// AtMost returns the lower of p and most.
func (p Priority) AtMost(most Priority) Priority {
	if p.rank() < most.rank() {
		return p
	}
	return most
}

func (p Priority) rank() int {
	switch p {
	case PriorityHigh:
		return 2
	case PriorityNormal:
		return 1
	case PriorityLow:
		return 0
	}
	return 1
}
