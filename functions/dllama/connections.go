package dllama

import (
	"cmp"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/pool"
	"github.com/gorizond/koldun/internal/names"
)

// connections composes what the pods need before they can start. Pods that
// exist stay when it is not ready.
func (p *dllamaPlan) connections() (compose.Next, error) {
	ns, name := p.Namespace, p.Name
	exposes := p.Spec.Expose != nil
	if exposes && !p.ingress.admitted() && !p.running() {
		p.failIngress()
		return compose.Stop, nil
	}
	desired := map[string]any{}
	account := p.account()
	if account.ID != "" || p.usesNATS() {
		via, next, err := p.connectNATS()
		if err != nil || next == compose.Stop {
			return compose.Stop, err
		}
		p.via = via
		if !exposes {
			desired[resRunners] = managed.KeyValue(via, ns, names.Object(name, "dllama", "runners"), p.busSecret(), managed.Expiring(names.RunnersBucket))
		}
		if p.records() {
			desired[resRecord] = p.record(via)
		}
		if p.alone() {
			desired[resRegistry] = managed.Registry(via, ns, p.registryName())
		}
		if p.asks() {
			desired[resRegistry] = managed.Registry(via, ns, p.registryName(), names.TokensBucket)
			desired[p.resToken()] = p.token(via)
		}
		if p.weighted() {
			desired[resMember] = managed.Member(via, ns, names.Object(name, "dllama", "member"), p.group(), *p.Spec.Traffic, p.served())
		}
	}
	if p.delivery == deliveryFetch && !p.scaled() && p.ownStore() {
		folder := strings.TrimPrefix(p.artifact.URL, "s3://"+p.artifact.Bucket+"/")
		desired[resBucket] = managed.Bucket(p.artifact.ProviderConfigRef, ns, names.Object(name, "artifact"), p.artifact.Bucket, p.storeSecret(), v1alpha1.BucketAccess{Prefix: folder})
		p.storeKeys = connection.StoreKeys(p.Call, resBucket, p.storeSecret())
	}
	pending, err := managed.Await(p.Call, desired)
	if err == nil && !p.scaled() {
		user := connection.Runner(p.session(), p.Namespace, p.rootName()+"-0", p.served())
		var waiting managed.Pending
		p.logins, waiting, err = connection.Users(p.Call, p.via, p.owner(), account, user)
		pending = cmp.Or(pending, waiting)
	}
	if err != nil || !pending.Any() || p.running() {
		return compose.Continue, err
	}
	p.FailIf(pending.Reason, pending.Message)
	return compose.Stop, nil
}

// group names the member that the Dllama is, or is a part of.
func (p *dllamaPlan) group() string {
	if p.scaled() {
		return p.member(pool.Group(p.poolName()))
	}
	return p.member(p.Name)
}

// connectNATS composes the connection to NATS.
func (p *dllamaPlan) connectNATS() (managed.Via, compose.Next, error) {
	nats, problem := connection.NATS(p.Call, p.owner(), "spec.nats", p.natsConnection())
	user := resRunners
	if p.scaled() {
		user = pool.Resource
	}
	via, err := nats.ComposeOrKeep(p.Call, p.owner(), problem, user)
	if err != nil {
		return nil, compose.Stop, err
	}
	if problem.Message != "" {
		p.Fail(problem.Reason, "%s", problem.Message)
		if !p.Exists(user) { // what runs does not use the connection yet
			return nil, p.keepRunning(), nil
		}
	}
	return via, compose.Continue, nil
}

// record lists a Model of another namespace in this one, or the model of an engine
// without a Model, so that requests here can name it. The members of a Session share the entry, so none of them
// deletes it.
func (p *dllamaPlan) record(via managed.Via) *v1alpha1.ModelRecord {
	r := managed.Record(via, p.Namespace, names.Object(p.Name, "dllama", "record"), p.model().Name, p.artifact.URL)
	if p.Labels[v1.LabelSession] != "" {
		r.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	}
	return r
}
