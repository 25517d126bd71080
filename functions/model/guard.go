package model

import (
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// guard fences the pods of the Model's Jobs, which others reach only to see how far they
// are. systems name what is composed for the systems that they connect to. It stays when they
// have ended: to remove it takes more events than to keep it. There is none while the Jobs
// wait for the connections whose ports it needs.
func (p *plan) guard(connected func() bool, systems ...string) error {
	if !workload.Guarded(p.m.Spec.NetworkPolicy) {
		return nil
	}
	out := connection.Egress{Policy: resGuard, Scheduling: p.m.Spec.Scheduling, Ports: workload.EnvOf(p.m.Spec.Env, p.m.Spec.EnvFrom).Ports()}
	for _, res := range systems {
		out.Systems = append(out.Systems, connection.Ports(p.Call, res))
	}
	if !out.Known() && !p.Exists(resGuard) && !connected() {
		return nil
	}
	policy := workload.Guard(p.m.Namespace, names.Object(p.m.Name, "model", "pods"), workload.Owner("model", p.m.Name),
		[]workload.Door{{Port: job.ProgressNumber}}, out.Ways(p.Call))
	return p.Desire(resGuard, policy, compose.Ready)
}

// queueConnected reports whether the provider has connected the queue.
func queueConnected(c *compose.Call) bool {
	ready, _ := managed.Ready(c, resQueue)
	return bool(ready)
}

// connected reports whether there is all that Jobs wait for.
func (p *hubPlan) connected() bool {
	bucket, _ := managed.Ready(p.Call, resBucket(p.to.buckets()[0]))
	var revision v1alpha1.HubRevision
	p.Observed(resRevisionOf(p.to.ref), &revision)
	return queueConnected(p.Call) && bool(bucket) && revision.Status.AtProvider.Commit != ""
}
