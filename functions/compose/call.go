// Package compose is the framework in which the package of each kind composes
// it: from the observed composite and its composed resources to desired
// resources, status and conditions.
//
// A Call is pure: the same request always gives the same bytes.
package compose

import (
	"fmt"
	"iter"
	"strings"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
	"google.golang.org/protobuf/types/known/durationpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/functions/reason"
)

// A Config is what the Function was started with.
type Config struct {
	// Image of our own binary, for every pod that runs it.
	Image string
	// Cores are those of the one machine that all nodes of a topology share; 0 if
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

	req    *fnv1.RunFunctionRequest
	rsp    *fnv1.RunFunctionResponse
	around surroundings
	// unanswered: Crossplane has not looked yet for something that was required.
	unanswered bool
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
	c := &Call{Config: cfg, req: req, rsp: rsp}
	c.lookAround()
	return c
}

// Composite decodes the observed composite. The composite of a claim gets the
// claim's name and namespace, so that the same objects are composed for both.
func (c *Call) Composite(into metav1.Object) error {
	s := c.req.GetObserved().GetComposite().GetResource()
	if err := decode(s, into); err != nil {
		return fmt.Errorf("cannot decode composite resource: %w", err)
	}
	if into.GetNamespace() != "" {
		return nil
	}
	claim := s.GetFields()["spec"].GetStructValue().GetFields()["claimRef"].GetStructValue().GetFields()
	namespace, name := claim["namespace"].GetStringValue(), claim["name"].GetStringValue()
	if namespace == "" || name == "" {
		return fmt.Errorf("composite resource %q belongs to no namespace: create the claim in its place", into.GetName())
	}
	into.SetNamespace(namespace)
	into.SetName(name)
	return nil
}

// ClusterComposite decodes the observed composite of a cluster-scoped kind, which has
// neither a namespace nor a claim.
func (c *Call) ClusterComposite(into metav1.Object) error {
	if err := decode(c.req.GetObserved().GetComposite().GetResource(), into); err != nil {
		return fmt.Errorf("cannot decode composite resource: %w", err)
	}
	if into.GetNamespace() != "" {
		return fmt.Errorf("composite resource %q belongs to namespace %q, and its kind is cluster-scoped", into.GetName(), into.GetNamespace())
	}
	return nil
}

// ClusterScoped reports whether the composite has no namespace, and so may
// compose cluster-scoped objects.
func (c *Call) ClusterScoped() bool {
	meta := c.req.GetObserved().GetComposite().GetResource().GetFields()["metadata"].GetStructValue()
	return meta.GetFields()["namespace"].GetStringValue() == ""
}

// Observed decodes the composed resource of that name. It returns false if none
// exists, or if it cannot be decoded.
func (c *Call) Observed(name string, into any) bool {
	r, ok := c.req.GetObserved().GetResources()[name]
	return ok && r.GetResource() != nil && decode(r.GetResource(), into) == nil
}

// Exists reports whether the composed resource of that name exists.
func (c *Call) Exists(name string) bool {
	_, ok := c.req.GetObserved().GetResources()[name]
	return ok
}

// Withdraw excludes a composed resource from what KeepRest keeps, so that Crossplane
// deletes it unless it is desired.
func (c *Call) Withdraw(name string) {
	if c.withdrawn == nil {
		c.withdrawn = map[string]bool{}
	}
	c.withdrawn[name] = true
}

// Resources lists the names of the composed resources that exist and begin
// with the prefix, in no order.
func (c *Call) Resources(prefix string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range c.req.GetObserved().GetResources() {
			if strings.HasPrefix(name, prefix) && !yield(name) {
				return
			}
		}
	}
}

// Condition returns a condition of the composed resource of that name; zero if
// the resource or the condition does not exist.
func (c *Call) Condition(name, condition string) metav1.Condition {
	return conditionOf(c.req.GetObserved().GetResources()[name].GetResource(), condition)
}

// Within has Crossplane call again after at most this time, also if nothing changes
// that it watches.
func (c *Call) Within(d time.Duration) {
	if c.rsp.GetMeta() == nil {
		c.rsp.Meta = &fnv1.ResponseMeta{}
	}
	if ttl := c.rsp.GetMeta().GetTtl(); ttl == nil || ttl.AsDuration() > d {
		c.rsp.Meta.Ttl = durationpb.New(d)
	}
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
	if c.lacks(name, s) {
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

// True sets a condition to true on the composite and its claim.
func (c *Call) True(condition string, r reason.Reason, format string, args ...any) {
	response.ConditionTrue(c.rsp, condition, string(r)).WithMessage(fmt.Sprintf(format, args...)).TargetCompositeAndClaim()
}

// False sets a condition to false on the composite and its claim.
func (c *Call) False(condition string, r reason.Reason, format string, args ...any) {
	response.ConditionFalse(c.rsp, condition, string(r)).WithMessage(fmt.Sprintf(format, args...)).TargetCompositeAndClaim()
}
