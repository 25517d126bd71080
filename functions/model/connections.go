package model

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/internal/names"
)

func (p *modelPlan) owner() connection.Owner {
	return connection.Owner{Kind: "model", Namespace: p.m.Namespace, Name: p.m.Name}
}

// connect composes the connection to NATS and the object store.
func (p *modelPlan) connect() (compose.Next, error) {
	owner := p.owner()
	nats, problem := connection.NATS(p.Call, owner, "spec.nats", p.m.Spec.NATS)
	if problem.Message == "" {
		var s3 connection.Connection
		if s3, problem = connection.S3(owner, "spec.objectStorage", storeOf(p.m.Spec)); problem.Message == "" {
			nats, problem = connection.Join(nats, s3)
		}
	}
	if problem.Message != "" {
		p.Fail(problem.Reason, "%s", problem.Message)
		return compose.Stop, nil
	}
	var err error
	p.via, err = nats.Compose(p.Call, owner)
	return compose.Continue, err
}

// connections composes what the Jobs need before they can start. It continues
// when that is not ready: the revision is composed at the same time, because
// each round of composing is an event. The Secrets with the connections are
// named after the Model.
func (p *modelPlan) connections() (compose.Next, error) {
	ns, name := p.m.Namespace, p.m.Name
	if refused := p.to.outside(ns); refused != "" {
		return p.Deny(refused), nil
	}
	desired := map[string]any{
		resQueue: managed.Queue(p.via, ns, names.Object(name, "model", "queue"), p.busSecret(), v1alpha1.QueueParameters{
			KeyValues: append([]v1alpha1.KeyValueParameters{managed.Lasting(names.ProgressBucket)}, p.registryBuckets()...),
		}),
	}
	for i, bucket := range p.to.buckets() {
		secret, access := "", []v1alpha1.BucketAccess(nil)
		if i == 0 {
			secret, access = p.storeSecret(), p.to.access()
		}
		b := managed.Bucket(p.via, ns, names.Object(name, "bucket", names.Hash(8, bucket)), bucket, secret, access...)
		if m := storeOf(p.m.Spec).ManageBuckets; m != nil && !*m {
			b.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		}
		desired[resBucket(bucket)] = b
	}
	p.storeKeys = connection.StoreKeys(p.Call, resBucket(p.to.buckets()[0]), p.storeSecret())
	pending, err := managed.Await(p.Call, desired)
	// The Jobs of a running stage have all they need.
	if !p.started() {
		p.pending = pending
	}
	return compose.Continue, err
}

// resBucket names the composed Bucket of a bucket.
func resBucket(bucket string) string { return "bucket-" + names.Hash(8, bucket) }

// resRevision names the composed HubRevision of the source.
func (p *modelPlan) resRevision() string { return resRevision + "-" + names.Hash(8, p.to.ref.String()) }

// storePorts returns the ports of the object store.
func (p *modelPlan) storePorts() []int32 {
	return connection.Ports(p.Call, resBucket(p.to.buckets()[0]))
}

// users composes the users that the Jobs log in to NATS as.
func (p *modelPlan) users() (compose.Next, error) {
	jobs := []v1alpha1.NATSUserGrant{connection.Job(resFetch, p.progressKey(p.at.Source, resFetch))}
	if converts(p.m.Spec) {
		jobs = append(jobs, connection.Job(resConvert, p.progressKey(p.at.Converted, resConvert)))
	}
	return compose.Continue, p.logIn(jobs...)
}

func (p *modelPlan) logIn(jobs ...v1alpha1.NATSUserGrant) (err error) {
	p.logins, p.usersDue, err = connection.Users(p.Call, p.via, p.owner(), connection.AccountOf(p.Call, resQueue), jobs...)
	return err
}

// registry composes the key-value bucket that lists models, and what the Job needs that
// reads the headers of files in a volume. A Model that is listed goes on when that is
// not ready.
func (p *modelPlan) registry() (compose.Next, error) {
	secret, buckets := "", p.registryBuckets()
	if converts(p.m.Spec) {
		secret, buckets = p.busSecret(), append(buckets, managed.Lasting(names.ProgressBucket))
	}
	pending, err := managed.Await(p.Call, map[string]any{
		resQueue: managed.Queue(p.via, p.m.Namespace, names.Object(p.m.Name, "model", "queue"), secret, v1alpha1.QueueParameters{KeyValues: buckets}),
	})
	if err == nil && converts(p.m.Spec) {
		err = p.logIn(connection.Job(resInspect, p.inspectionKey(p.volumeFiles)))
	}
	if err != nil || !pending.Any() || p.Exists(resRecord) {
		return compose.Continue, err
	}
	p.FailIf(pending.Reason, pending.Message)
	return compose.Stop, nil
}

// registryBuckets are those that list models, and the tokens of other namespaces.
func (p *modelPlan) registryBuckets() []v1alpha1.KeyValueParameters {
	out := []v1alpha1.KeyValueParameters{managed.Lasting(names.ModelsBucket)}
	if len(p.m.Spec.AllowedNamespaces) > 0 {
		out = append(out, managed.Lasting(names.TokensBucket))
	}
	return out
}

func (p *modelPlan) storeSecret() string { return connection.StoreSecret("model", p.m.Name) }

// hubSecret names the Secret with the connection to the hub, which the HubRevision
// writes. Another revision is another object, with a Secret of its own.
func (p *modelPlan) hubSecret() string {
	return names.Object(p.m.Name, "model", "hub", names.Hash(8, p.to.ref.String()))
}

func (p *modelPlan) busSecret() string { return connection.BusSecret("model", p.m.Name) }
