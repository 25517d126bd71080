package policy

// offers counts slots by what they serve, as Slot.needs yields it.
type offers map[need]int

// add adds n times the needs that a slot serves.
func (o offers) add(s Slot, n int) {
	for has := range s.needs() {
		if o[has] += n; o[has] == 0 {
			delete(o, has)
		}
	}
}

// serve reports whether one of the slots serves a need. Runners of one session
// differ in few ways, so there are few sets of features to look at.
func (o offers) serve(n need) bool {
	if o[n] > 0 {
		return true
	}
	for has := range o {
		if has.operation == n.operation && has.features.Include(n.features) {
			return true
		}
	}
	return false
}
