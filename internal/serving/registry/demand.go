package registry

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// A Demand records that a session has queued or running requests, or had some
// recently. Its key is the session. It expires unless a writer renews it. All
// writers write the same value.
type Demand struct {
	Version   int    `json:"version"` // of the schema; 0 is 1
	Session   string `json:"session"` // names.Session
	Namespace string `json:"namespace"`
	Model     string `json:"model"` // name of the model in the namespace
}

// Demands returns the table of sessions in demand, by session.
func Demands(b *bus.Bus) *Table[Demand] {
	return &Table[Demand]{bus: b, bucket: names.DemandBucket, filter: "*", check: Demand.check}
}

func (d Demand) check(key string) error {
	switch {
	case d.Version > recordVersion:
		return newer(d.Version)
	case d.Session != key || d.Namespace == "" || d.Model == "":
		return fault.Errorf(fault.Invalid, "it does not describe the demand for session %q", key)
	}
	return nil
}

// PutTTL is like Put for a record that expires after ttl (whole seconds, at
// least one) unless it is written again.
func (t *Table[T]) PutTTL(ctx context.Context, key string, value T, ttl time.Duration) (uint64, error) {
	if err := t.checked(key, value); err != nil {
		return 0, err
	}
	return t.bus.PutTTL(ctx, t.bucket, key, value, ttl)
}
