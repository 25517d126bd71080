package dllama

import (
	"cmp"
	"fmt"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/enginepod"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
)

// Ways in which a root gets the model's files. pvc and csi mount the same
// volume.
const (
	deliveryFetch = "fetch"
	deliveryPVC   = "pvc"
)

// A delivery is how the root gets the files of its plan: from the object store, or in a
// volume if there is one.
type delivery struct {
	claim
	artifact *v1.ServedArtifact
	fetches  bool
}

// planDelivery decides how the root gets the files, or says why it cannot get them.
func planDelivery(p nodePlan) (out delivery, problem string) {
	out = delivery{claim: p.claim, artifact: p.artifact}
	if p.engine.Reads == engine.FilesNone {
		return out, ""
	}
	way := p.Spec.Delivery
	if way == "" && p.artifact.URL == "" {
		way = deliveryPVC
	}
	out.fetches = cmp.Or(way, deliveryFetch) == deliveryFetch
	return out, out.impossible()
}

// deliver decides how the root gets the files, and reports the plan in the status.
func (d *dllama) deliver(plan nodePlan) (delivery, compose.Next) {
	d.status.MaxSeqLen, d.status.RootMemoryBytes, d.status.WorkerMemoryBytes = plan.seqLen, plan.rootMemory, plan.workerMemory
	out, problem := planDelivery(plan)
	if problem != "" {
		d.Fail(reason.DeliveryImpossible, "%s", problem)
		return out, compose.Stop
	}
	if plan.engine.Reads != engine.FilesNone {
		d.status.Artifact = plan.artifact
	}
	return out, compose.Continue
}

// impossible says why the root cannot get the files; empty if it can.
func (d delivery) impossible() string {
	a, m := d.artifact, d.model()
	if !d.fetches {
		switch {
		case a.ClaimName == "":
			return fmt.Sprintf("spec.delivery: Model %q offers no volume: give it spec.pv, or use fetch", m.Name)
		case d.foreign():
			return fmt.Sprintf("spec.delivery: the volume of Model %q is in namespace %q, and pods mount only those of their own: use fetch", m.Name, m.Namespace)
		}
		return ""
	}
	switch via := a.ProviderConfigRef; {
	case a.URL == "":
		return fmt.Sprintf("spec.delivery: the files of Model %q are in a volume only: use pvc", m.Name)
	case d.foreign() && via != nil && via.Kind != v1alpha1.KindClusterProviderConfig:
		return fmt.Sprintf("spec.modelRef: Model %q of namespace %q has an object store of its own: "+
			"describe it in a ClusterProviderConfig, and name that in the Model", m.Name, m.Namespace)
	}
	return ""
}

// ownStore reports whether the Dllama has a connection to the object store of its own.
// An inline Model's serves both, unless its credentials are temporary: those are for
// its Jobs, which may write.
func (d delivery) ownStore() bool { return d.Spec.Model == nil || d.artifact.TemporaryCredentials }

// secret names the Secret with the connection to the object store.
func (d delivery) secret() string {
	if d.ownStore() {
		return connection.StoreSecret("dllama", d.Name)
	}
	return connection.StoreSecret("model", d.Name)
}

// files are the files in the pods. keys are the credentials of the object store that end.
func (d delivery) files(keys workload.StoreKeys) enginepod.Files {
	if d.fetches {
		return enginepod.Files{Fetch: d.artifact.URL, FetchSecret: d.secret(), FetchKeys: keys}
	}
	return enginepod.Files{Claim: d.artifact.ClaimName}
}

// ports returns the ports of the object store, which the Dllama's own Bucket reports or its
// Model's.
func (d delivery) ports(c *compose.Call) []int32 {
	if d.ownStore() {
		return connection.Ports(c, resBucket)
	}
	return d.artifact.Ports
}
