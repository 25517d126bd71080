// Package pool decides how many members a pool of runners should have, from
// what lies in its queue and from what its runners do.
//
// A pool is only observed: what there should be is told to whoever makes
// members, and runners that are to go are told to take no more work. What was
// decided is kept in a key-value bucket by compare-and-set, so that any number
// of processes may observe the same pool and agree.
package pool

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/internal/queue"
)

// A Spec describes a pool and its bounds.
type Spec struct {
	Session              string `json:"session"` // key in the queue: names.Session
	MinMembers           int    `json:"minMembers,omitempty"`
	MaxMembers           int    `json:"maxMembers,omitempty"`
	ScaleUpBacklog       int    `json:"scaleUpBacklog,omitempty"`
	ScaleDownIdleSeconds int    `json:"scaleDownIdleSeconds,omitempty"`
	// Owner is the Session, NAMESPACE/NAME, whose Dllamas are the members. By it
	// members are told from other runners of the same key.
	Owner string `json:"owner,omitempty"`
	// Dllama is what the Dllama of each member is made of. Nil: none is made.
	Dllama *external.Template `json:"dllama,omitempty"`
	// Standing is what those say that are there, by their names.
	Standing map[string]Standing `json:"-"`
	// ID tells this pool from all others, earlier ones of its name included.
	// Empty: Owner.
	ID string `json:"-"`
	// Known is what an earlier observation has shown. It counts when what was
	// kept is lost.
	Known Status `json:"-"`
}

// A Member is one member that a pool should have.
type Member struct {
	Name  string `json:"name"`
	Phase Phase  `json:"phase"`
	// What its Dllama says, if the pool makes one.
	Ready        bool   `json:"ready,omitempty"`
	ReadyWorkers int    `json:"readyWorkers,omitempty"`
	Reason       string `json:"reason,omitempty"`
	Message      string `json:"message,omitempty"`
}

// A Status is what was found of a pool. Numbers are those of some moment within
// the last half minute.
type Status struct {
	Members    []Member `json:"members,omitempty"`    // by number
	NextMember int      `json:"nextMember,omitempty"` // number of the next one

	Backlog          int        `json:"backlog,omitempty"`
	InFlight         int        `json:"inFlight,omitempty"`
	OldestAgeSeconds int        `json:"oldestAgeSeconds,omitempty"`
	IdleRunners      int        `json:"idleRunners,omitempty"`
	BusyRunners      int        `json:"busyRunners,omitempty"`
	LastActivity     *time.Time `json:"lastActivity,omitempty"` // to the second
}

// A Client observes pools in one NATS account.
type Client struct {
	bus     *bus.Bus
	runners *runners
	feed    *feed.Feed

	mu    sync.Mutex // guards pools and their counts
	pools map[string]*watched
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New is a Client.
func New(b *bus.Bus) *Client {
	r := &runners{bus: b, known: map[string]map[string]queue.Runner{}}
	return &Client{bus: b, runners: r, feed: feed.New(r.follow), pools: map[string]*watched{}}
}

// Observe looks at the pool and decides. It tells runners that are to go to
// take no more work, and those that are to stay after all to take work again.
// Errors: NotFound if there is no request stream yet, Transient.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	w, release := c.hold(s)
	defer release()
	if err := w.look(ctx, c, s); err != nil {
		return external.Observation[Status]{Exists: true, UpToDate: true}, err
	}
	return external.Observation[Status]{Exists: true, UpToDate: true, Ready: true, Status: w.shown(time.Now())}, nil
}

// Create has nothing to do.
func (c *Client) Create(context.Context, Spec) error { return nil }

// Update has nothing to do.
func (c *Client) Update(context.Context, Spec) error { return nil }

// Delete has nothing to do: what is kept of a pool expires.
func (c *Client) Delete(context.Context, Spec) error { return nil }

// id is the key that what is kept of the pool has.
func (s Spec) id() string {
	if s.ID != "" {
		return s.ID
	}
	return s.Owner
}

func (s Spec) limits() limits {
	return limits{
		min: min(s.MinMembers, s.MaxMembers), max: s.MaxMembers, perOne: max(s.ScaleUpBacklog, 1),
		idle: time.Duration(max(s.ScaleDownIdleSeconds, 1)) * time.Second,
	}
}

// owner splits Owner into namespace and name.
func (s Spec) owner() (namespace, name string) {
	namespace, name, _ = strings.Cut(s.Owner, "/")
	return namespace, name
}
