package sidecar

import (
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
)

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

// onResume sends the frames of a request again if this runner has them. All runners of
// the session receive such messages, which are rare: a subscription for each request
// would cost every request more.
func (r *runner) onResume(subject string, from queue.Resume) (struct{}, bool) {
	id := strings.TrimPrefix(subject, names.ResumeSubject(r.cfg.Session, ""))
	for _, l := range r.logs.of(id) {
		l.resend(from)
	}
	return struct{}{}, false
}
