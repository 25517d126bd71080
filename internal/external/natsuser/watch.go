package natsuser

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/nats/natsauth"
)

const (
	// looks is how often in a lifetime credentials are observed.
	looks = 16
	// lookEvery is how often the account is asked whether all credentials of its users
	// are to be made anew.
	lookEvery = 20 * time.Second
)

// Watch calls changed often enough for credentials to be renewed in time, when the
// account asks for other ones, and when the earlier ones are to be refused.
func (c Client) Watch(ctx context.Context, s Spec, changed func()) error {
	begun, every := time.Now(), s.lifetime()/looks
	tick := time.NewTicker(min(every, lookEvery))
	defer tick.Stop()
	last, refused := begun, s.RevokeBefore == nil
	known, err := c.accounts.Cutoff(ctx, s.Namespace)
	for {
		var now time.Time
		select {
		case <-ctx.Done():
			return nil
		case now = <-tick.C:
		}
		at, problem := c.accounts.Cutoff(ctx, s.Namespace)
		asked := problem == nil && (err != nil || !at.Equal(known))
		over := !refused && now.Sub(begun) > natsauth.Overlap(s.Overlap)+time.Second
		if !asked && !over && now.Sub(last) < every {
			continue
		}
		if problem == nil {
			known, err = at, nil
		}
		last, refused = now, refused || over
		changed()
	}
}
