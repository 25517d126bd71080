package managed

import "sync"

// A System is a server that managed resources are on.
type System string

// The systems.
const (
	NATS System = "NATS"
	S3   System = "S3"
)

// A Use is a server that a managed resource uses.
type Use struct {
	System   System
	Address  string // empty: Amazon's object store
	Embedded bool   // not one that the claims name
}

// uses reports each server once. It is safe for concurrent use.
type uses struct {
	report func(Use)

	mu   sync.Mutex
	seen map[Use]bool
}

func newUses(report func(Use)) *uses { return &uses{report: report, seen: map[Use]bool{}} }

func (u *uses) add(one Use) {
	u.mu.Lock()
	before := u.seen[one]
	u.seen[one] = true
	u.mu.Unlock()
	if !before && u.report != nil {
		u.report(one)
	}
}
