package sidecar

import "slices"

// slots are the attempts that the engine computes, and the slots that it has for more. The
// runner's mutex guards them, and these fields of the attempts: inputs, first, givenBack.
type slots struct {
	all     int           // Config.Slots
	taken   int           // by requests from elsewhere, less than all
	running []*attempt    // at most all, oldest first
	inputs  int           // how many the server has got from attempts
	idle    chan struct{} // closed while nothing is running
	caches  promptCaches
}

func newSlots(all int) slots {
	s := slots{all: all, idle: make(chan struct{})}
	close(s.idle)
	return s
}

// begin gives an attempt a slot, which must be free.
func (s *slots) begin(a *attempt) {
	if len(s.running) == 0 {
		s.idle = make(chan struct{})
	}
	s.running = append(s.running, a)
	s.inputs += a.inputs
}

// end frees the slot of an attempt, which has used one of the prompt caches.
func (s *slots) end(a *attempt) {
	s.running = slices.DeleteFunc(s.running, func(other *attempt) bool { return other == a })
	s.caches.use(a.assignment.Request.Affinity, s.all)
	if len(s.running) == 0 {
		close(s.idle)
	}
}

// busy counts the slots that take no attempt.
func (s *slots) busy() int { return len(s.running) + s.taken }

// sends notes how many inputs a running attempt is about to send.
func (s *slots) sends(a *attempt, inputs int) {
	if inputs <= 1 {
		return
	}
	s.inputs += inputs - a.inputs
	a.inputs = inputs
}

// ended counts the inputs of attempts that have ended.
func (s *slots) ended() int {
	n := s.inputs
	for _, a := range s.running {
		n -= a.inputs
	}
	return n
}

// generatesSince reports whether the engine has sent something for a running
// attempt after a moment, in ns since 1970. Such an engine does not hang, and to
// restart it would break off what it generates.
func (s *slots) generatesSince(moment int64) bool {
	return slices.ContainsFunc(s.running, func(a *attempt) bool { return a.heard.Load() > moment })
}

// promptCaches are the conversations of the latest attempts, "" for none, the last one
// first: one for each prompt cache that the engine has used.
type promptCaches []string

// latest returns the conversation of the last attempt.
func (c promptCaches) latest() string {
	if len(c) == 0 {
		return ""
	}
	return c[0]
}

// conversations returns the conversations in the prompt caches.
func (c promptCaches) conversations() []string {
	var out []string
	for _, a := range c {
		if a != "" {
			out = append(out, a)
		}
	}
	return out
}

// use notes that an attempt at a conversation, "" for none, has used one of all the prompt
// caches that the engine has.
func (c *promptCaches) use(affinity string, all int) {
	if all == 1 {
		*c = append((*c)[:0], affinity)
		return
	}
	others := *c
	if affinity != "" {
		others = slices.DeleteFunc(others, func(other string) bool { return other == affinity })
	}
	others = slices.Insert(others, 0, affinity)
	*c = others[:min(len(others), all)]
}
