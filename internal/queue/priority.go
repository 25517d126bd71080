package queue

// A Priority is how urgent a request is. The gateway sets it from the header
// HeaderPriority, up to what the client's token is allowed, and the dispatcher
// serves each class its share of the tokens while requests of it wait.
type Priority string

// The priorities. A high one gets the most, and a low one is never starved.
const (
	PriorityHigh   Priority = "high"
	PriorityNormal Priority = "normal" // "" is the same
	PriorityLow    Priority = "low"
)

const (
	// HeaderPriority is the HTTP header by which a client asks for a priority.
	HeaderPriority = "x-koldun-priority"
	// MetadataPriority is the key in a token's metadata that names the highest
	// priority its requests may have; without it that is PriorityNormal.
	MetadataPriority = "priority"
)

// ParsePriority reads the name of a priority; "" is PriorityNormal.
func ParsePriority(name string) (p Priority, ok bool) {
	switch p := Priority(name); p {
	case PriorityHigh, PriorityNormal, PriorityLow:
		return p, true
	case "":
		return PriorityNormal, true
	}
	return PriorityNormal, false
}

// AtMost is p, or most if that is lower.
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
