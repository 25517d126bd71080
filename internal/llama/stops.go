package llama

import "strings"

// A stopper lets text through until one of its stop strings is complete,
// wherever the borders between tokens are. Text that may be the beginning of a
// stop string is held back.
type stopper struct {
	stops []string // none of them empty
	held  string
}

// push adds text and returns what is certain to come before any stop string.
// Once a stop string is complete, stopped is true and the rest is dropped.
func (s *stopper) push(text string) (out string, stopped bool) {
	s.held += text
	if at, found := s.find(); found {
		out, s.held = s.held[:at], ""
		return out, true
	}
	keep := s.openEnd()
	cut := len(s.held) - keep
	out, s.held = s.held[:cut], s.held[cut:]
	return out, false
}

// flush returns what was held back, at the end of the text.
func (s *stopper) flush() string {
	out := s.held
	s.held = ""
	return out
}

// find is the place of the stop string that is complete first, and of those
// the longest: as if the text had come byte by byte.
func (s *stopper) find() (at int, found bool) {
	end := 0
	for _, stop := range s.stops {
		i := strings.Index(s.held, stop)
		if i < 0 {
			continue
		}
		if e := i + len(stop); !found || e < end || e == end && i < at {
			at, end, found = i, e, true
		}
	}
	return at, found
}

// openEnd is the length of the longest end of the held text with which a stop
// string begins.
func (s *stopper) openEnd() int {
	longest := 0
	for _, stop := range s.stops {
		for n := min(len(stop)-1, len(s.held)); n > longest; n-- {
			if strings.HasSuffix(s.held, stop[:n]) {
				longest = n
				break
			}
		}
	}
	return longest
}
