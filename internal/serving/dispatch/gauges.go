package dispatch

import "github.com/gorizond/koldun/internal/serving/queue"

// gauges returns the current contribution of the leader.
func (l *leader) gauges() gaugeValues {
	v := gaugeValues{queued: l.ledger.queue.Len(), runners: map[queue.RunnerState]int{}}
	for _, j := range l.ledger.jobs {
		if j.held() {
			v.running++
		}
	}
	for _, p := range l.peers.byName {
		v.runners[p.rec.State]++
		if p.rec.State == queue.RunnerIdle || p.rec.State == queue.RunnerBusy {
			v.slots += p.capacity
		}
	}
	return v
}

// setGauges replaces the leader's contribution to the gauges, which all leaders of
// this process share.
func (l *leader) setGauges(now gaugeValues) {
	m := l.metrics
	m.queued.Add(float64(now.queued - l.reported.queued))
	m.running.Add(float64(now.running - l.reported.running))
	m.slots.Add(float64(now.slots - l.reported.slots))
	for _, s := range []queue.RunnerState{queue.RunnerStarting, queue.RunnerIdle, queue.RunnerBusy, queue.RunnerDraining} {
		m.runners.WithLabelValues(string(s)).Add(float64(now.runners[s] - l.reported.runners[s]))
	}
	l.reported = now
}
