package openai

import "strings"

// A StopFilter lets text through until one of its stop sequences is complete,
// wherever the text is cut into pieces. It holds back text that may be the
// beginning of a stop sequence. The zero value has none.
type StopFilter struct {
	stops   []string // none of them empty
	held    string
	matched string
}

// NewStopFilter returns a filter for stop sequences, of which empty ones stop
// nothing.
func NewStopFilter(stops ...string) StopFilter {
	var f StopFilter
	for _, stop := range stops {
		if stop != "" {
			f.stops = append(f.stops, stop)
		}
	}
	return f
}

// Push takes the next piece of text and returns the text that is certain to
// come before any stop sequence. Once a stop sequence is complete, stopped is
// true, and the filter has dropped the text from its beginning on.
func (f *StopFilter) Push(piece string) (text string, stopped bool) {
	if len(f.stops) == 0 {
		return piece, false
	}
	text = f.held + piece
	if start, end := f.find(text); start >= 0 {
		f.held, f.matched = "", text[start:end]
		return text[:start], true
	}
	cut := len(text) - f.begun(text)
	f.held = text[cut:]
	return text[:cut], false
}

// Matched returns the stop sequence that is complete, or "".
func (f *StopFilter) Matched() string { return f.matched }

// Rest returns the text that is held back, once the whole text has come.
func (f *StopFilter) Rest() string {
	rest := f.held
	f.held = ""
	return rest
}

// find returns where the stop sequence is that is complete first, and of several
// that are complete at once the longest: as if the text had come byte by byte. The
// start is -1 if there is none.
func (f *StopFilter) find(text string) (start, end int) {
	start, end = -1, len(text)+1
	for _, stop := range f.stops {
		i := strings.Index(text, stop)
		if i < 0 {
			continue
		}
		if e := i + len(stop); e < end || e == end && i < start {
			start, end = i, e
		}
	}
	return start, end
}

// begun returns the length of the longest end of text that begins a stop
// sequence.
func (f *StopFilter) begun(text string) int {
	longest := 0
	for _, stop := range f.stops {
		for n := min(len(stop)-1, len(text)); n > longest; n-- {
			if strings.HasSuffix(text, stop[:n]) {
				longest = n
				break
			}
		}
	}
	return longest
}
