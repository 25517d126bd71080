package bus

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

const (
	// renewedBy is the part of the life of credentials by which a file should hold
	// newer ones.
	renewedBy = 0.8
	// looksPerLife is how often a file is read in the life of its user, within these
	// bounds.
	looksPerLife = 20
	seldom       = 2 * time.Second
	often        = 50 * time.Millisecond
	// settle limits the wait for messages on their way before a connection is replaced.
	settle = time.Second
	// renewsWithin is how long a renewal may take. What takes longer is a loss of the
	// connection to others as well.
	renewsWithin = time.Second
)

// A step is what follows from a look at a credentials file.
type step int

// The steps.
const (
	stay    step = iota // the connection has the newest credentials
	renew               // the file has newer ones of the same user
	overdue             // the credentials end soon, and the file has no newer ones
	another             // the file has another user
)

// next compares the credentials in use with those of the file.
func (l login) next(found login, now time.Time) step {
	switch {
	case found.user != l.user:
		return another
	case found.token != l.token:
		return renew
	case !l.expires.IsZero() && !now.Before(l.issued.Add(time.Duration(renewedBy*float64(l.expires.Sub(l.issued))))):
		return overdue
	}
	return stay
}

// lookEvery returns how often the file is read.
func (l login) lookEvery() time.Duration {
	if l.expires.IsZero() {
		return seldom
	}
	return min(max(l.expires.Sub(l.issued)/looksPerLife, often), seldom)
}

// follow replaces the connection when the file has newer credentials, until ctx ends.
func (c *connection) follow(ctx context.Context, from *source) {
	warned := login{}
	for {
		used := from.current()
		select {
		case <-ctx.Done():
			return
		case <-time.After(used.lookEvery()):
		}
		if !c.Connected() {
			continue // reconnecting, with what the file holds
		}
		found, err := readLogin(from.file)
		if err != nil {
			c.log.Debug("cannot read the NATS credentials", "error", err)
			found = used
		}
		switch used.next(found, time.Now()) {
		case overdue:
			if warned != used {
				c.log.Warn("the NATS credentials end soon, and their file has no newer ones", "file", from.file, "end", used.expires)
				warned = used
			}
		case another:
			if c.nc.Opts.InboxPrefix == natsauth.InboxPrefix(used.user) {
				// The subjects of answers belong to the user, and the client
				// library cannot change them.
				c.patience.end(fault.Errorf(fault.Denied, "the credentials file %q holds another user now, which only a new process can use", from.file))
				return
			}
			_, _ = from.reset()
			c.renew(found)
		case renew:
			c.renew(found)
		}
	}
}

// renew reconnects, which takes milliseconds. Subscriptions stay, and what is published
// meanwhile follows.
func (c *connection) renew(l login) {
	_ = c.nc.FlushTimeout(settle)
	c.watching.Lock()
	defer c.watching.Unlock()
	c.mu.Lock()
	c.renewing = time.Now()
	c.mu.Unlock()
	if c.nc.ForceReconnect() != nil {
		return // closed
	}
	c.counts.renewals.Add(1)
	c.log.Info("renewing the connection to NATS with newer credentials", "end", l.expires)
}
