// Package workloadstatus watches the pods with some labels, and what creates them, and
// says what keeps them from running, and how far they are. It changes nothing.
//
// Package diagnose has the decisions.
package workloadstatus

import (
	"context"
	"sync"

	"k8s.io/client-go/kubernetes"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
)

// A Spec selects pods by their labels.
type Spec struct {
	Selector map[string]string `json:"selector"`
	// ProgressPort names the container port on which pods serve their progress; empty
	// for none.
	ProgressPort string `json:"progressPort,omitempty"`
	// Planned are pods for which the nodes are checked while they do not exist.
	Planned []diagnose.Planned `json:"planned,omitempty"`

	Namespace string `json:"-"` // of the pods
	Owner     string `json:"-"` // unique name of the resource
	// Known is what was observed before.
	Known Status `json:"-"`
}

// A Status is what keeps the pods from running, zero if nothing does, and their progress.
type Status struct {
	diagnose.Diagnosis
	Progress []PodProgress `json:"progress,omitempty"`
}

// A Client watches the pods of one cluster. It is safe for concurrent use.
type Client struct {
	clients kubernetes.Interface
	cluster *cluster

	mu         sync.Mutex
	namespaces map[string]*namespace
	seen       map[string]*seen // by owner, while it is watched
}

// seen is the last result of one watch.
type seen struct {
	known bool // the watch has found something
	Status
	err error
}

var (
	_ external.Client[Spec, Status] = (*Client)(nil)
	_ external.Watcher[Spec]        = (*Client)(nil)
)

// New returns a Client. It needs the right to get, list and watch pods, events,
// StatefulSets, Deployments and Jobs, and uses it only in namespaces of resources
// that are watched. For planned pods it watches the nodes, and lists the pods of those
// that may run them. Without the right to, nothing is known of the room there.
func New(clients kubernetes.Interface) *Client {
	return &Client{clients: clients, cluster: newCluster(clients), namespaces: map[string]*namespace{}, seen: map[string]*seen{}}
}

// Observe returns what the watch has found, and before it has found anything what was
// known before. It asks no server.
func (c *Client) Observe(_ context.Context, s Spec) (external.Observation[Status], error) {
	now := seen{Status: s.Known}
	c.mu.Lock()
	if found := c.seen[s.Owner]; found != nil && found.known {
		now = *found
	}
	c.mu.Unlock()
	out := external.Observation[Status]{Exists: true, UpToDate: true, Ready: now.Reason == "", Message: now.Message, Status: now.Status}
	if now.err != nil {
		out.Ready, out.Message = false, now.err.Error()
	}
	return out, nil
}

// Create has nothing to do.
func (c *Client) Create(context.Context, Spec) error { return nil }

// Update has nothing to do.
func (c *Client) Update(context.Context, Spec) error { return nil }

// Delete has nothing to do.
func (c *Client) Delete(context.Context, Spec) error { return nil }

// begin returns the place for the results of a new watch of an owner. An earlier watch,
// with another selector, may still end.
func (c *Client) begin(owner string) *seen {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &seen{}
	c.seen[owner] = s
	return s
}

func (c *Client) note(s *seen, now Status, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*s = seen{known: true, Status: now, err: err}
}

func (c *Client) forget(owner string, s *seen) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen[owner] == s {
		delete(c.seen, owner)
	}
}

func (c *Client) namespace(name string) *namespace {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.namespaces[name]
	if n == nil {
		n = newNamespace(c.clients, name)
		c.namespaces[name] = n
	}
	return n
}
