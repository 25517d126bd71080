// Package model composes a Model: the revision on the hub, the Jobs that fetch
// and convert it, what they make in the object store, a volume with it when
// one is wanted, and its entry in the registry.
package model

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/platform"
	"github.com/gorizond/koldun/functions/reason"
)

// Names of the composed resources. Where a hash is in the name of the object,
// because another one is another thing, it is appended to these too: Crossplane
// keeps the object that it has under a name.
const (
	resRevision  = "revision"
	resQueue     = "queue"
	resSource    = "source"
	resConverted = "converted"
	resFetch     = "fetch"
	resConvert   = "convert"
	resVolume    = "volume"
	resClaim     = "claim"
	resFill      = "fill"
	resRecord    = "record"
	resInspected = "inspected"
	resInspect   = "inspect"
	resGuard     = "guard"
)

// Compose answers one call for a Model.
func Compose(c *compose.Call) error {
	var m v1.Model
	if err := c.Composite(&m); err != nil {
		return err
	}
	p := &plan{Plan: compose.Plan{Call: c}, m: m, status: v1.ModelStatus{Status: v1.Status{ObservedGeneration: m.Generation}}}
	c.Legacy(Legacy("spec", m.Namespace, m.Spec, !c.ClusterScoped()))
	p.withdraw()
	from := p.fromHub
	if m.Spec.PreConverted {
		from = p.fromVolume
	}
	if p.allow() == compose.Continue {
		if err := from(); err != nil {
			return err
		}
	}
	p.keepServing()
	return c.Finish(&p.status)
}

// A plan is one composition of one Model.
type plan struct {
	compose.Plan
	m      v1.Model
	status v1.ModelStatus
}

// fromHub composes a Model of a repository of the hub.
func (p *plan) fromHub() error {
	to, problem := layoutOf(p.m.Spec)
	if problem != "" {
		p.Fail(reason.SourceInvalid, "%s", problem)
		return nil
	}
	to.own = ownFolder(p.Call, to.buckets()[0])
	via, next, err := p.connect()
	if next == compose.Stop || err != nil {
		return err
	}
	h := &hubPlan{plan: p, to: to, via: via}
	if err := p.guard(h.connected, resQueue, resBucket(to.buckets()[0]), resRevisionOf(to.ref)); err != nil {
		return err
	}
	pending, next, err := h.connections()
	if next == compose.Stop || err != nil {
		return err
	}
	rev, next, err := h.revision(pending)
	if next == compose.Stop || err != nil {
		return err
	}
	at := to.at(rev.commit)
	keys, err := h.credentials(at)
	if err != nil {
		return err
	}
	files, err := h.files(at, rev.commit, keys)
	if err != nil {
		return err
	}
	if next, err := files.make(rev); next == compose.Stop || err != nil {
		return err
	}
	if next, err := p.volume(at.served(), files.served().SizeBytes, keys.storeKeys); next == compose.Stop || err != nil {
		return err
	}
	p.status.Artifact = files.describe()
	return p.record(via, files.served().Verified)
}

// A hubPlan composes what is needed to fetch files of the hub, and to convert them.
type hubPlan struct {
	*plan
	to  layout
	via managed.Via
}

// fromVolume composes a Model whose files are in a volume already.
func (p *plan) fromVolume() error {
	v := &volumePlan{plan: p, files: p.filesInVolume()}
	v.report()
	via, next, err := p.connect()
	if next == compose.Stop || err != nil {
		return err
	}
	if err := p.guard(func() bool { return queueConnected(p.Call) }, resQueue); err != nil {
		return err
	}
	keys, next, err := v.registry(via)
	if next == compose.Stop || err != nil {
		return err
	}
	found, next, err := v.inspect(via, keys)
	if next == compose.Stop || err != nil {
		return err
	}
	return p.record(via, found.Verified)
}

// allow refuses what the platform team keeps to itself, such as a static volume: that has the rights of
// its Secret on any bucket, and its attributes are arguments of a program on the node.
func (p *plan) allow() compose.Next {
	var uses []platform.Use
	if pv := p.m.Spec.PV; pv != nil && p.ClusterScoped() {
		uses = platform.Static("spec.pv", static(p.m, "", ""))
	}
	return p.Allow(p.m.Namespace, uses...)
}
