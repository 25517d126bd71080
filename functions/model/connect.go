package model

import (
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/outside"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// connect finds out how NATS and the object store are reached.
func (p *plan) connect() (blocked bool, err error) {
	owner := connection.Owner{Kind: "model", Namespace: p.m.Namespace, Name: p.m.Name}
	nats, problem := connection.NATS(p.Call, owner, "spec.nats", p.m.Spec.NATS)
	if problem.Message != "" {
		p.False(v1.ConditionServing, problem.Reason, "%s", problem.Message)
		return true, nil
	}
	s3, problem := connection.S3(owner, "spec.objectStorage", p.store)
	if problem.Message == "" {
		nats, problem = connection.Join(nats, s3)
	}
	if problem.Message != "" {
		p.False(v1.ConditionServing, problem.Reason, "%s", problem.Message)
		return true, nil
	}
	p.via, err = nats.Compose(p.Call, owner)
	return false, err
}

// connections composes what the Jobs need before they can start. The Secrets
// with the connections are named after the Model.
func (p *plan) connections() (blocked bool, err error) {
	ns, name := p.m.Namespace, p.m.Name
	desired := map[string]any{
		resProgress: outside.KeyValue(p.via, ns, names.Object(name, "model", "progress"), names.ProgressBucket, p.busSecret(), 0),
		resModels:   p.registry(),
	}
	order := []string{resProgress, resModels}
	for i, bucket := range p.buckets() {
		res := fmt.Sprintf("bucket-%d", i)
		secret := ""
		if i == 0 {
			secret = p.storeSecret()
		}
		b := outside.Bucket(p.via, ns, names.Object(name, "bucket", names.Hash(8, bucket)), bucket, secret)
		if m := p.store.ManageBuckets; m != nil && !*m {
			b.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		}
		desired[res] = b
		order = append(order, res)
	}
	return p.await(order, desired)
}

func (p *plan) registry() any {
	return outside.KeyValue(p.via, p.m.Namespace, names.Object(p.m.Name, "model", "models"), names.ModelsBucket, "", 0)
}

// await composes managed resources and blocks until all of them are ready.
func (p *plan) await(order []string, desired map[string]any) (blocked bool, err error) {
	for _, res := range order {
		ready, message := outside.Ready(p.Call, res)
		if err := p.Desire(res, desired[res], ready); err != nil {
			return false, err
		}
		if !bool(ready) && !blocked {
			blocked = true
			p.False(v1.ConditionServing, reason.ConnectionPending, "Composed resource %q is not ready: %s", res, message)
		}
	}
	return blocked, nil
}

func (p *plan) storeSecret() string { return names.Object(p.m.Name, "model", "s3") }
func (p *plan) busSecret() string   { return names.Object(p.m.Name, "model", "nats") }
