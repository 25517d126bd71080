package registry

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// A Slot is one of a limited number of separate pools in a namespace. The gateway
// that creates its key holds the slot until the key expires, so any number of
// gateways never create more pools than there are slots.
type Slot struct {
	Version   int    `json:"version"` // of the schema; 0 is 1
	Namespace string `json:"namespace"`
	Number    int    `json:"number"`  // from 0
	Session   string `json:"session"` // names.Session, of an isolated pool
}

// NewSlot returns a slot that a session holds.
func NewSlot(namespace string, number int, session string) Slot {
	return Slot{Version: recordVersion, Namespace: namespace, Number: number, Session: session}
}

// Key returns the slot's key in the table.
func (s Slot) Key() string { return names.SlotKey(s.Namespace, s.Number) }

// Slots returns the table of slots. They are in the bucket of demand, because
// they have the same lifetime.
func Slots(b *bus.Bus) *Table[Slot] {
	return &Table[Slot]{bus: b, bucket: names.DemandBucket, filter: names.SlotKeys, check: Slot.check}
}

func (s Slot) check(key string) error {
	switch {
	case s.Version > recordVersion:
		return newer(s.Version)
	case s.Namespace == "" || s.Session == "" || s.Number < 0 || s.Key() != key:
		return fault.Errorf(fault.Invalid, "it is not the record of slot %q", key)
	}
	return nil
}

// SwapTTL is like Swap for a record that expires after ttl (whole seconds, at
// least one) unless it is written again.
func (t *Table[T]) SwapTTL(ctx context.Context, key string, value T, revision uint64, ttl time.Duration) (uint64, error) {
	if err := t.checked(key, value); err != nil {
		return 0, err
	}
	if revision == 0 {
		return t.bus.Create(ctx, t.bucket, key, value, ttl)
	}
	return t.bus.Update(ctx, t.bucket, key, value, revision, ttl)
}
