package sidecar

import "strings"

// A stopper looks for stop sequences in text that comes in pieces. It holds
// back what may be the beginning of one.
type stopper struct {
	stops []string // none empty
	held  string
}

func newStopper(stops []string) *stopper {
	s := &stopper{}
	for _, stop := range stops {
		if stop != "" {
			s.stops = append(s.stops, stop)
		}
	}
	return s
}

// push takes the next piece and returns the text that can be shown. stopped
// means that a stop sequence followed it; what came after is dropped.
func (s *stopper) push(piece string) (text string, stopped bool) {
	if len(s.stops) == 0 {
		return piece, false
	}
	text = s.held + piece
	// The sequence that is complete first counts, however the text is cut.
	start, end := -1, -1
	for _, stop := range s.stops {
		i := strings.Index(text, stop)
		if i < 0 {
			continue
		}
		if e := i + len(stop); end < 0 || e < end || e == end && i < start {
			start, end = i, e
		}
	}
	if start >= 0 {
		s.held = ""
		return text[:start], true
	}
	n := s.begun(text)
	s.held = text[len(text)-n:]
	return text[:len(text)-n], false
}

// rest is what was held back and turned out to be no stop sequence.
func (s *stopper) rest() string {
	rest := s.held
	s.held = ""
	return rest
}

// begun is the length of the longest end of text that begins a stop sequence.
func (s *stopper) begun(text string) int {
	longest := 0
	for _, stop := range s.stops {
		for n := min(len(stop)-1, len(text)); n > longest; n-- {
			if strings.HasSuffix(text, stop[:n]) {
				longest = n
				break
			}
		}
	}
	return longest
}
