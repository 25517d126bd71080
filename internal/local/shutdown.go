package local

// shutdown stops everything from front to back, so that running requests can
// end: it closes the ports, stops the workloads behind Services, and then all
// others.
func (l *Local) shutdown() {
	l.table.ending = true
	l.table.emit(Event{Type: Stopping})
	for _, wave := range l.table.waves() {
		pending := len(wave)
		for _, u := range wave {
			u.stop(onShutdown, func() { pending-- })
		}
		for pending > 0 {
			(<-l.inbox)()
		}
	}
	l.table.emit(Event{Type: Stopped})
}

// waves returns the units in the order in which they stop.
func (t *table) waves() [3][]unit {
	front := map[*workload]bool{}
	for _, key := range t.order {
		s, ok := t.entries[key].unit.(*service)
		if !ok || len(s.open) == 0 {
			continue
		}
		for _, w := range s.workloads() {
			front[w] = true
		}
	}
	var waves [3][]unit
	for _, key := range t.order {
		switch u := t.entries[key].unit.(type) {
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
