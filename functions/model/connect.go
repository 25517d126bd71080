package model

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
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

// connections composes what the Jobs need before they can start, together with
// the revision: each step of its own would be one more for whoever watches. The
// Secrets with the connections are named after the Model.
func (p *plan) connections() (blocked bool, err error) {
	ns, name := p.m.Namespace, p.m.Name
	desired := map[string]any{
		resQueue: managed.Queue(p.via, ns, names.Object(name, "model", "queue"), p.busSecret(), v1alpha1.QueueParameters{
			KeyValues: []v1alpha1.KeyValueParameters{managed.Lasting(names.ProgressBucket), managed.Lasting(names.ModelsBucket)},
		}),
	}
	for i, bucket := range p.buckets() {
		secret := ""
		if i == 0 {
			secret = p.storeSecret()
		}
		hash := names.Hash(8, bucket)
		b := managed.Bucket(p.via, ns, names.Object(name, "bucket", hash), bucket, secret)
		if m := p.store.ManageBuckets; m != nil && !*m {
			b.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		}
		desired["bucket-"+hash] = b
	}
	pending, err := managed.Await(p.Call, desired)
	if err != nil {
		return false, err
	}
	// The Jobs of a running stage have all they need.
	if p.started() {
		pending = ""
	}
	return p.revision(pending)
}

// registry composes the bucket in which models are listed.
func (p *plan) registry() (blocked bool, err error) {
	pending, err := managed.Await(p.Call, map[string]any{
		resQueue: managed.Queue(p.via, p.m.Namespace, names.Object(p.m.Name, "model", "queue"), "", v1alpha1.QueueParameters{
			KeyValues: []v1alpha1.KeyValueParameters{managed.Lasting(names.ModelsBucket)},
		}),
	})
	if err != nil || pending == "" {
		return false, err
	}
	p.False(v1.ConditionServing, reason.ConnectionPending, "%s", pending)
	return true, nil
}

func (p *plan) storeSecret() string { return connection.StoreSecret("model", p.m.Name) }
func (p *plan) busSecret() string   { return connection.BusSecret("model", p.m.Name) }
