package sidecar

import "slices"

// resumable holds the frame logs of the attempts of a runner by request, so that clients
// can request lost frames. A runner may have several attempts of one request. The zero
// value is ready to use. The mutex of frameLogs guards it.
type resumable map[string][]*frameLog

func (m *resumable) add(l *frameLog) {
	if *m == nil {
		*m = resumable{}
	}
	id := l.as.Request.ID
	(*m)[id] = append((*m)[id], l)
}

func (m *resumable) remove(l *frameLog) {
	id := l.as.Request.ID
	left := slices.DeleteFunc((*m)[id], func(other *frameLog) bool { return other == l })
	if len(left) == 0 {
		delete(*m, id)
		return
	}
	(*m)[id] = left
}
