// Package demand observes which pools of runners are in demand.
package demand

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// A Spec selects the demand of one namespace.
type Spec struct {
	Namespace   string `json:"namespace"`             // of the models
	MaxIsolated int    `json:"maxIsolated,omitempty"` // limit of listed isolated pools
	// Session is the template of the Session of each pool; nil creates none.
	Session *external.Template `json:"session,omitempty"`
	// Taken are the keys of pools that other Sessions and scaled Dllamas serve.
	Taken map[string]bool `json:"-"`
	// Known is the list of an earlier observation. Its live entries stay listed;
	// a budget limits the rate of new entries.
	Known []Session `json:"-"`
}

// A Session is a pool in demand.
type Session struct {
	Key      string `json:"key"`
	Model    string `json:"model"`
	Isolated bool   `json:"isolated,omitempty"` // separate for a tenant or conversation
}

// A Status lists the pools, by key.
type Status struct {
	Sessions []Session `json:"sessions,omitempty"`
}

// A Client observes demand in one NATS account. There is nothing to create.
type Client struct {
	bus   *bus.Bus
	table *registry.Table[registry.Demand]
	live  *live
	feed  *feed.Feed

	mu      sync.Mutex // guards ledgers and their fields
	ledgers map[ledgerKey]*ledger
}

// A ledgerKey identifies a ledger.
type ledgerKey struct {
	namespace string
	most      int
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New returns a Client.
func New(b *bus.Bus) *Client {
	l := &live{bus: b, sessions: map[string]registry.Demand{}}
	return &Client{bus: b, table: registry.Demands(b), live: l, feed: feed.New(l.follow), ledgers: map[ledgerKey]*ledger{}}
}

// Observe lists the pools. It reads the bucket unless a watch is running.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	o := external.Observation[Status]{Exists: true, UpToDate: true}
	if !c.bus.Connected() {
		return o, fault.Errorf(fault.Transient, "cannot observe demand in namespace %q: NATS cannot be reached", s.Namespace)
	}
	all, settled, ok := c.live.all()
	if !ok {
		records, err := c.table.List(ctx, ">")
		if err != nil {
			return o, err
		}
		for _, r := range records {
			if valid(r.Key, r.Value) {
				all = append(all, r.Value)
			}
		}
	}
	o.Ready = true
	o.Status.Sessions, _ = c.list(s, all, settled)
	return o, nil
}

// Watch calls changed whenever the result of Observe changes, until ctx ends;
// it then returns nil. One watch of the bucket serves all callers. Watch calls
// changed from one goroutine at a time, and changed should not block for long.
func (c *Client) Watch(ctx context.Context, s Spec, changed func()) error {
	news, stop := c.feed.Follow(s.Namespace)
	defer stop()
	defer c.hold(s)()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var last []Session
	for notified := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-news:
		case <-timer.C:
		}
		all, settled, ok := c.live.all()
		if !ok {
			continue // the feed notifies when it is synced
		}
		listed, again := c.list(s, all, settled)
		if !again.IsZero() {
			timer.Reset(max(time.Until(again), time.Millisecond))
		}
		if !notified || !slices.Equal(listed, last) {
			notified, last = true, listed
			changed()
		}
	}
}

// list updates the ledger of the spec with the live pools.
func (c *Client) list(s Spec, all []registry.Demand, settled time.Time) ([]Session, time.Time) {
	mine := make([]Session, 0, len(all))
	for _, d := range all {
		if d.Namespace == s.Namespace {
			shared := names.Session(d.Namespace, d.Model, "")
			mine = append(mine, Session{Key: d.Session, Model: d.Model, Isolated: d.Session != shared})
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ledger(s).enter(mine, s.MaxIsolated, settled, time.Now())
}

// hold keeps the ledger of a spec until the only call of release.
func (c *Client) hold(s Spec) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.ledger(s)
	l.watched++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if l.watched--; l.watched == 0 {
			delete(c.ledgers, ledgerKey{s.Namespace, s.MaxIsolated})
		}
	}
}

// ledger returns the ledger of a spec. The caller holds mu.
func (c *Client) ledger(s Spec) *ledger {
	id := ledgerKey{s.Namespace, s.MaxIsolated}
	l := c.ledgers[id]
	if l == nil {
		l = newLedger(s.Known, time.Now())
		c.ledgers[id] = l
	}
	return l
}

// Create does nothing.
func (c *Client) Create(context.Context, Spec) error { return nil }

// Update does nothing.
func (c *Client) Update(context.Context, Spec) error { return nil }

// Delete does nothing: demand expires.
func (c *Client) Delete(context.Context, Spec) error { return nil }
