// Package compose is the framework in which the package of each kind composes
// it: from the observed composite and its composed resources to desired
// resources, status and conditions.
//
// A Call is pure: the same request always gives the same bytes.
package compose

import (
	"fmt"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// A Config is what the Function was started with.
type Config struct {
	// Image of our own binary, for every pod that runs it.
	Image string
	// Cores are the cores of the one machine that all nodes of a topology share; 0 if
	// each node has a machine of its own.
	Cores int
	// Processes says that pods are processes of one machine, which prints how they
	// end: nothing watches them through an API server.
	Processes bool
	// Trusted says that the authors of the claims have the rights of the platform team.
	Trusted bool
}

// Threads returns how many threads each of some nodes computes with: as many as
// the claim says, at least one, but no more than the node's share of the cores.
func (c Config) Threads(claimed int32, nodes int) int32 {
	claimed = max(claimed, 1)
	if c.Cores == 0 {
		return claimed
	}
	return min(claimed, max(1, int32(min(c.Cores/max(nodes, 1), 1<<15))))
}

// A Call is one composition of one composite resource.
type Call struct {
	Config

	observed
	answer
	*requirements

	around surroundings
	// refused: the claim is, so its status stays.
	refused bool
	// withdrawn are the composed resources that KeepRest does not keep.
	withdrawn map[string]bool
}

// New begins a Call that answers req through rsp.
func New(cfg Config, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) *Call {
	if rsp.GetDesired() == nil {
		rsp.Desired = &fnv1.State{}
	}
	if rsp.GetDesired().GetResources() == nil {
		rsp.Desired.Resources = map[string]*fnv1.Resource{}
	}
	seen, answers, required := observed{req.GetObserved()}, answer{rsp}, &requirements{req: req, response: rsp}
	c := &Call{
		Config: cfg, observed: seen, answer: answers, requirements: required,
		around: surroundings{observed: seen, answer: answers, requirements: required},
	}
	c.around.look()
	return c
}

// Withdraw excludes a composed resource from what KeepRest keeps, so that Crossplane
// deletes it unless it is desired.
func (c *Call) Withdraw(name string) {
	if c.withdrawn == nil {
		c.withdrawn = map[string]bool{}
	}
	c.withdrawn[name] = true
}

// A Readiness says whether a desired resource is ready.
type Readiness bool

// Readiness of a desired resource.
const (
	Ready    Readiness = true
	NotReady Readiness = false
)

// Desire adds a desired resource under a name that is unique in this call. A
// Deployment or StatefulSet is not ready before all its pods have the desired template.
// A resource for which the cluster lacks a prerequisite is left out, and Finish says so.
func (c *Call) Desire(name string, obj any, ready Readiness) error {
	s, err := encode(obj)
	if err != nil {
		return fmt.Errorf("cannot encode desired resource %q: %w", name, err)
	}
	if c.around.lacks(name, s) {
		return nil
	}
	hash, err := mark(s)
	if err != nil {
		return fmt.Errorf("cannot hash the template of desired resource %q: %w", name, err)
	}
	state := fnv1.Ready_READY_FALSE
	if bool(ready) && (hash == "" || c.rolledOut(name, hash)) {
		state = fnv1.Ready_READY_TRUE
	}
	c.rsp.Desired.Resources[name] = &fnv1.Resource{Resource: s, Ready: state}
	return nil
}

// Lack notes what the cluster lacks for an object that is composed, which says itself
// whether it serves. An empty text is nothing.
func (c *Call) Lack(missing string) {
	if missing != "" {
		c.around.lack(missing, false)
	}
}
