// Package pool observes a pool of runners and its queue, and plans its members by the
// decisions of package autoscaler.
//
// A pool is only observed: the status lists the wanted members, and runners of
// draining members get drain orders. Decisions are stored in a key-value bucket by
// compare-and-set, so that any number of processes may observe the same pool and
// agree.
package pool

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/internal/external/pool/autoscaler"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// A Spec describes a pool and its limits.
type Spec struct {
	Session              string `json:"session"` // key in the queue: names.Session
	MinMembers           int    `json:"minMembers,omitempty"`
	MaxMembers           int    `json:"maxMembers,omitempty"`
	ScaleUpBacklog       int    `json:"scaleUpBacklog,omitempty"`
	ScaleDownIdleSeconds int    `json:"scaleDownIdleSeconds,omitempty"`
	// Owner is the Session, NAMESPACE/NAME, whose Dllamas are the members. It
	// distinguishes members from other runners of the same key.
	Owner string `json:"owner,omitempty"`
	// Dllama is the template of the Dllama of each member; nil creates none.
	Dllama *external.Template `json:"dllama,omitempty"`
	// DllamaStates are the states of the existing Dllamas, by name.
	DllamaStates map[string]DllamaState `json:"-"`
	// ID identifies this pool, also among earlier ones of its name. The default
	// is Owner.
	ID string `json:"-"`
	// Known is the status of an earlier observation, which is used if the stored
	// plan is lost.
	Known Status `json:"-"`
}

// A Member is a wanted member of a pool.
type Member struct {
	Name  string           `json:"name"`
	Phase autoscaler.Phase `json:"phase"`
	// The state of its Dllama, if the pool creates one.
	Ready        bool   `json:"ready,omitempty"`
	ReadyWorkers int    `json:"readyWorkers,omitempty"`
	Reason       string `json:"reason,omitempty"`
	Message      string `json:"message,omitempty"`
}

// A Status is the observed state of a pool. Its numbers are at most half a minute
// old.
type Status struct {
	Members    []Member `json:"members,omitempty"`    // by number
	Template   string   `json:"template,omitempty"`   // hash of that which the states of members are of
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
	runners *runnerCache
	feed    *feed.Feed

	mu    sync.Mutex // guards pools and their counts
	pools map[string]*observed
}

var _ external.Client[Spec, Status] = (*Client)(nil)

// New returns a Client.
func New(b *bus.Bus) *Client {
	r := &runnerCache{bus: b, records: map[string]map[string]queue.Runner{}}
	return &Client{bus: b, runners: r, feed: feed.New(r.follow), pools: map[string]*observed{}}
}

// Observe observes the pool and plans its members. It sends drain orders to the
// runners of draining members, and revokes those of active ones. Errors: NotFound if there is
// no request stream yet, Transient.
func (c *Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	p, release := c.acquire(s)
	defer release()
	if err := p.reconcile(ctx, c, s); err != nil {
		return external.Observation[Status]{Exists: true, UpToDate: true}, err
	}
	return external.Observation[Status]{Exists: true, UpToDate: true, Ready: true, Status: p.report(time.Now())}, nil
}

// Create does nothing.
func (c *Client) Create(context.Context, Spec) error { return nil }

// Update does nothing.
func (c *Client) Update(context.Context, Spec) error { return nil }

// Delete does nothing: the stored plan expires.
func (c *Client) Delete(context.Context, Spec) error { return nil }

// id returns the id of the pool for the key of its plan.
func (s Spec) id() string {
	if s.ID != "" {
		return s.ID
	}
	return s.Owner
}

func (s Spec) limits() autoscaler.Limits {
	return autoscaler.NewLimits(s.MinMembers, s.MaxMembers, s.ScaleUpBacklog, s.ScaleDownIdleSeconds)
}

// owner splits Owner into namespace and name.
func (s Spec) owner() (namespace, name string) {
	namespace, name, _ = strings.Cut(s.Owner, "/")
	return namespace, name
}
