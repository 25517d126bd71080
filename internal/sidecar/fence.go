package sidecar

// A fence refuses leaders whose lease another has taken: it accepts messages of
// the newest epoch only, and those in their order.
type fence struct {
	epoch  uint64
	seq    uint64
	synced bool // the leader of epoch knows what this runner holds
}

// pass accepts a message if it is newer than all before, and reports whether it is.
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
