package model

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
)

// credentials are what the Jobs use the queue and the object store with.
type credentials struct {
	logins    connection.Logins
	storeKeys workload.StoreKeys
	due       managed.Pending // what Jobs wait for that does not exist
}

// credentials composes the users that the Jobs log in to NATS as.
func (p *hubPlan) credentials(at Location) (credentials, error) {
	jobs := []v1alpha1.NATSUserGrant{connection.Job(resFetch, progressKey(p.m, at.Source, resFetch))}
	if at.Converted != "" {
		jobs = append(jobs, connection.Job(resConvert, progressKey(p.m, at.Converted, resConvert)))
	}
	out, err := p.logIn(p.via, jobs...)
	out.storeKeys = connection.StoreKeys(p.Call, resBucket(p.to.buckets()[0]), storeSecret(p.m))
	return out, err
}

func (p *plan) logIn(via managed.Via, jobs ...v1alpha1.NATSUserGrant) (out credentials, err error) {
	out.logins, out.due, err = connection.Users(p.Call, via, owner(p.m), connection.AccountOf(p.Call, resQueue), jobs...)
	return out, err
}

func storeSecret(m v1.Model) string { return connection.StoreSecret("model", m.Name) }

// hubSecret names the Secret with the connection to the hub, which the HubRevision
// writes. Another revision is another object, with a Secret of its own.
func hubSecret(m v1.Model, ref modelref.Ref) string {
	return names.Secret(m.Name, "model", "hub", names.Hash(8, ref.String()))
}

func busSecret(m v1.Model) string { return connection.BusSecret("model", m.Name) }
