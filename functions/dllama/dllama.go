// Package dllama composes a Dllama: its Model and Ingress when it brings them
// along, and the pods that serve the model.
package dllama

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/outside"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/topology"
)

// Names of the composed resources.
const (
	resModel   = "model"
	resIngress = "ingress"
	resBucket  = "bucket"
	resRunners = "runners"
	resService = "root-service"
	resRoot    = "root"
)

// maxSeqLen is the longest context unless the claim says otherwise: memory for
// all of it is taken at the start, and a model's own may be 131,072.
const maxSeqLen = 4096

// Compose answers one call for a Dllama.
func Compose(c *compose.Call) error {
	var d v1.Dllama
	if err := c.Composite(&d); err != nil {
		return err
	}
	p := &plan{Call: c, d: d, status: v1.DllamaStatus{Status: v1.Status{ObservedGeneration: d.Generation}, Nodes: nodes(d.Spec.Runtime)}}
	if err := p.run(); err != nil {
		return err
	}
	return c.SetStatus(&p.status)
}

func nodes(r v1.Runtime) int32 {
	if r.Nodes != nil {
		return *r.Nodes
	}
	if r.ReplicaPower != nil {
		return 1 << *r.ReplicaPower
	}
	return 1
}

// A plan is one composition of one Dllama.
type plan struct {
	*compose.Call
	d      v1.Dllama
	status v1.DllamaStatus

	modelNamespace, modelName string
	artifact                  *v1.Artifact
	buffers                   topology.FloatType
	ingress                   v1.Ingress
}

func (p *plan) run() error {
	if err := p.expose(); err != nil {
		return err
	}
	blocked, err := p.model()
	if err != nil {
		return err
	}
	p.status.Model = p.modelNamespace + "/" + p.modelName
	if blocked {
		return nil
	}
	if blocked := p.preflight(); blocked {
		return nil
	}
	if blocked, err := p.connections(); err != nil || blocked {
		return err
	}
	return p.root()
}

// model finds the Model, or composes it.
func (p *plan) model() (blocked bool, err error) {
	var m v1.Model
	if inline := p.d.Spec.Model; inline != nil {
		p.modelNamespace, p.modelName = p.d.Namespace, p.d.Name
		found := p.Observed(resModel, &m)
		want := &v1.Model{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindModel},
			ObjectMeta: metav1.ObjectMeta{Namespace: p.modelNamespace, Name: p.modelName},
			Spec:       *inline,
		}
		if err := p.Desire(resModel, want, compose.Readiness(found && serving(m.Status.Conditions).Status == metav1.ConditionTrue)); err != nil {
			return false, err
		}
		return p.judge(m, found), nil
	}
	ref := p.d.Spec.ModelRef
	if ref == nil {
		p.False(v1.ConditionServing, reason.ModelNotFound, "Neither spec.model nor spec.modelRef is given")
		return true, nil
	}
	p.modelNamespace, p.modelName = ref.Namespace, ref.Name
	if p.modelNamespace == "" {
		p.modelNamespace = p.d.Namespace
	}
	found, known := p.Require(resModel, v1.APIVersion, v1.KindModel, p.modelNamespace, p.modelName, &m)
	if known && !found {
		p.False(v1.ConditionServing, reason.ModelNotFound, "spec.modelRef: Model %q does not exist in namespace %q", p.modelName, p.modelNamespace)
		return !p.Exists(resRoot), nil
	}
	return p.judge(m, found), nil
}

// judge waits for the Model. What already runs goes on with the artifact that
// the Model still names.
func (p *plan) judge(m v1.Model, found bool) (blocked bool) {
	p.artifact = m.Status.Artifact
	if p.artifact != nil {
		return false
	}
	state := serving(m.Status.Conditions)
	if !found || state.Reason == "" {
		p.False(v1.ConditionServing, reason.ModelPending, "Model %q has not been composed yet", p.modelName)
		return true
	}
	why := reason.ModelPending
	if reason.Final(state.Reason) {
		why = reason.ModelFailed
	}
	p.False(v1.ConditionServing, why, "Model %q is not ready: %s: %s", p.modelName, state.Reason, state.Message)
	return true
}

func serving(conditions []metav1.Condition) metav1.Condition {
	for _, c := range conditions {
		if c.Type == v1.ConditionServing {
			return c
		}
	}
	return metav1.Condition{}
}

// preflight refuses what cannot run before anything is started.
func (p *plan) preflight() (blocked bool) {
	if p.status.Nodes > 1 {
		p.False(v1.ConditionServing, reason.TopologyInvalid, "spec.replicaPower: the embedded engine runs on 1 node, not on %d: use 0", p.status.Nodes)
		return true
	}
	sync, err := topology.SyncFor(topology.FloatType(p.artifact.Weights))
	if err != nil {
		p.False(v1.ConditionServing, reason.TopologyInvalid, "Model %q: %v", p.modelName, err)
		return true
	}
	p.buffers = sync
	if p.artifact.Shape == nil {
		return false
	}
	plan, err := shape(p.artifact).Preflight(topology.Request{Nodes: int(p.status.Nodes), SeqLen: int(p.seqLen())})
	if err != nil {
		p.False(v1.ConditionServing, reason.TopologyInvalid, "spec.replicaPower: %v", err)
		return true
	}
	p.status.RootMemoryBytes = plan.Root().Total()
	return false
}

func (p *plan) seqLen() int32 {
	if n := p.d.Spec.Engine.MaxSeqLen; n > 0 {
		return n
	}
	if s := p.artifact.Shape; s != nil && s.SeqLen < maxSeqLen {
		return int32(s.SeqLen)
	}
	return maxSeqLen
}

// connections composes what the pods need before they can start.
func (p *plan) connections() (blocked bool, err error) {
	ns, name := p.d.Namespace, p.d.Name
	desired := map[string]any{
		resBucket:  outside.Bucket(nil, ns, names.Object(name, "artifact"), p.artifact.Bucket, p.storeSecret()),
		resRunners: outside.KeyValue(nil, ns, names.Object(name, "dllama", "runners"), names.RunnersBucket, p.busSecret(), outside.Markers),
	}
	for _, res := range []string{resBucket, resRunners} {
		ready, message := outside.Ready(p.Call, res)
		if err := p.Desire(res, desired[res], ready); err != nil {
			return false, err
		}
		if !bool(ready) && !p.Exists(resRoot) {
			blocked = true
			p.False(v1.ConditionServing, reason.ConnectionPending, "Composed resource %q is not ready: %s", res, message)
		}
	}
	return blocked, nil
}

func (p *plan) storeSecret() string { return names.Object(p.d.Name, "dllama", "s3") }
func (p *plan) busSecret() string   { return names.Object(p.d.Name, "dllama", "nats") }

func (p *plan) session() string { return names.Session(p.modelNamespace, p.modelName, "") }

func shape(a *v1.Artifact) topology.Shape {
	s := a.Shape
	return topology.Shape{
		Arch: topology.Arch(s.Arch), Dim: s.Dim, HiddenDim: s.HiddenDim, Layers: s.Layers, Heads: s.Heads, KVHeads: s.KVHeads,
		HeadDim: s.HeadDim, VocabSize: s.VocabSize, SeqLen: s.SeqLen, Experts: s.Experts, ActiveExperts: s.ActiveExperts,
		MoEHiddenDim: s.MoEHiddenDim, Weights: topology.FloatType(s.Weights),
	}
}

// expose composes the Ingress of a Dllama that wants one.
func (p *plan) expose() error {
	e := p.d.Spec.Expose
	if e == nil {
		return nil
	}
	found := p.Observed(resIngress, &p.ingress)
	p.status.URL = p.ingress.Status.URL
	want := &v1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindIngress},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.d.Namespace, Name: p.d.Name},
		Spec:       v1.IngressSpec{Backend: v1.Backend{AllowAnonymous: e.AllowAnonymous}, Service: e.Service, Route: e.Route},
	}
	ready := found && serving(p.ingress.Status.Conditions).Status == metav1.ConditionTrue
	if err := p.Desire(resIngress, want, compose.Readiness(ready)); err != nil {
		return fmt.Errorf("cannot expose: %w", err)
	}
	return nil
}
