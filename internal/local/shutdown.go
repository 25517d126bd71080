package local

// shutdown stops everything from front to back, so that running requests can
// end: it closes the ports, stops the workloads behind Services, and then all
// others.
func (l *Local) shutdown() {
	l.ending = true
	l.emit(Event{Type: Stopping})
	for _, wave := range l.waves() {
		pending := len(wave)
		for _, u := range wave {
			u.stop(onShutdown, func() { pending-- })
		}
		for pending > 0 {
			(<-l.inbox)()
		}
	}
	l.emit(Event{Type: Stopped})
}

func (l *Local) waves() [3][]unit {
	front := map[*workload]bool{}
	for _, key := range l.order {
		s, ok := l.table[key].unit.(*service)
		if !ok || len(s.open) == 0 {
			continue
		}
		for _, w := range s.workloads() {
			front[w] = true
		}
	}
	var waves [3][]unit
	for _, key := range l.order {
		switch u := l.table[key].unit.(type) {
		case nil:
		case *service:
			waves[0] = append(waves[0], u)
		case *workload:
			if front[u] {
				waves[1] = append(waves[1], u)
				continue
			}
			waves[2] = append(waves[2], u)
		default:
			waves[2] = append(waves[2], u)
		}
	}
	return waves
}
