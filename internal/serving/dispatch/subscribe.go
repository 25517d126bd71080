package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// subscribe subscribes to messages of runners and gateways.
func (l *leader) subscribe() (func(), error) {
	var stops []func()
	stopAll := func() {
		for _, stop := range stops {
			stop()
		}
	}
	b := l.cfg.Bus
	for _, subscribe := range []func() (func(), error){
		func() (func(), error) {
			return bus.ServeLater(b, names.EndSubject(l.name), func(_ string, r queue.EndReport, reply func(queue.Ack)) {
				l.post(func() { l.roster.onReport(r, reply) })
			})
		},
		func() (func(), error) {
			return bus.Listen(b, names.FirstTokenSubject(l.name), func(_ string, mark queue.FirstToken) {
				l.post(func() { l.ledger.onFirstToken(mark) })
			})
		},
		func() (func(), error) {
			prefix := len(names.CancelSubject(l.name, ""))
			return bus.ServeLater(b, names.CancelSubject(l.name, "*"), func(subject string, c queue.CancelOrder, reply func(queue.Ack)) {
				l.post(func() { l.ledger.onCancel(subject[prefix:], c, reply) })
			})
		},
		func() (func(), error) {
			prefix := len(names.ResumeSubject(l.name, ""))
			return bus.Listen(b, names.ResumeSubject(l.name, "*"), func(subject string, from queue.Resume) {
				l.post(func() { l.intake.onResume(subject[prefix:], from, time.Now()) })
			})
		},
		func() (func(), error) {
			return bus.ServeLater(b, names.DepthSubject(l.name), func(_ string, _ queue.DepthQuery, reply func(queue.Depth)) {
				l.post(func() { l.intake.onDepthQuery(reply) })
			})
		},
		func() (func(), error) {
			prefix := len(names.MembersSubject(l.name, ""))
			return bus.ServeLater(b, names.MembersSubject(l.name, "*"), func(subject string, _ struct{}, reply func(queue.Members)) {
				if answer, ok := l.models.members(subject[prefix:]); ok {
					reply(answer)
				}
			})
		},
	} {
		stop, err := subscribe()
		if err != nil {
			stopAll()
			return nil, err
		}
		stops = append(stops, stop)
	}
	return stopAll, nil
}
