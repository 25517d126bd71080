package sidecar

// A fence refuses leaders that have lost their lease: it accepts only messages of the
// newest epoch, in order.
type fence struct {
	epoch  uint64
	seq    uint64
	synced bool // whether the leader of epoch knows the attempts of this runner
}

// pass reports whether a message is newer than all before, and if so, accepts it.
func (f *fence) pass(epoch, seq uint64) bool {
	if epoch < f.epoch || epoch == f.epoch && seq <= f.seq {
		return false
	}
	if epoch > f.epoch {
		f.synced = false
	}
	f.epoch, f.seq = epoch, seq
	return true
}
