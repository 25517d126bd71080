package model

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/internal/names"
)

func owner(m v1.Model) connection.Owner {
	return connection.Owner{Kind: "model", Namespace: m.Namespace, Name: m.Name}
}

// connect composes the connection to NATS and the object store, and the tokens of guests,
// which need nothing else.
func (p *plan) connect() (managed.Via, compose.Next, error) {
	owner := owner(p.m)
	nats, problem := connection.NATS(p.Call, owner, "spec.nats", p.m.Spec.NATS)
	if problem.Message == "" {
		var s3 connection.Connection
		if s3, problem = connection.S3(owner, "spec.objectStorage", storeOf(p.m.Spec)); problem.Message == "" {
			nats, problem = connection.Join(nats, s3)
		}
	}
	if problem.Message != "" {
		p.Fail(problem.Reason, "%s", problem.Message)
		return nil, compose.Stop, nil
	}
	via, err := nats.Compose(p.Call, owner)
	if err == nil {
		err = p.guests(via)
	}
	return via, compose.Continue, err
}

// connections composes what the Jobs need before they can start. It continues
// when that is not ready, and returns what the Jobs wait for: the revision is composed at
// the same time, because each round of composing is an event. The Secrets with the
// connections are named after the Model.
func (p *hubPlan) connections() (managed.Pending, compose.Next, error) {
	ns, name := p.m.Namespace, p.m.Name
	if refused := p.to.outside(ns); refused != "" {
		return managed.Pending{}, p.Deny(refused), nil
	}
	desired := map[string]any{
		resQueue: p.queue(p.via, busSecret(p.m), append([]v1alpha1.KeyValueParameters{managed.Lasting(names.ProgressBucket)}, registryBuckets(p.m)...)),
	}
	for i, bucket := range p.to.buckets() {
		secret, access := "", []v1alpha1.BucketAccess(nil)
		if i == 0 {
			secret, access = storeSecret(p.m), p.to.access()
		}
		b := managed.Bucket(p.via, ns, names.Object(name, "bucket", names.Hash(8, bucket)), bucket, secret, access...)
		if m := storeOf(p.m.Spec).ManageBuckets; m != nil && !*m {
			b.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		}
		desired[resBucket(bucket)] = b
	}
	pending, err := managed.Await(p.Call, desired)
	if started(p.Call) { // the Jobs of a running stage have all they need
		pending = managed.Pending{}
	}
	return pending, compose.Continue, err
}

// resBucket names the composed Bucket of a bucket.
func resBucket(bucket string) string { return "bucket-" + names.Hash(8, bucket) }
