// Package claim has the Terraform resources of objects in a cluster: what
// people claim of Koldun. They are written by server-side apply, so that what
// the configuration does not mention belongs to others.
package claim

import (
	"time"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/kube"
)

// A Kind is what there is to say of a resource beside its CRD.
type Kind struct {
	Name   string // in Terraform, without "koldun_"
	Plural string // of the CRD
	// Status are the fields of the status that the state keeps. What moves all
	// the time is in data sources only.
	Status []string
	// Steady are those of them that follow from nothing but the attributes given
	// and the name, by attribute: a plan knows them if these stay.
	StatusDependsOn map[string][]string
	Ready           time.Duration // how long to wait until it is ready
	// Fits checks numbers of nodes against a model's config.json.
	Fits bool
}

// Kinds are all resources of claims.
func Kinds() []Kind {
	const (
		short  = 5 * time.Minute
		serve  = 30 * time.Minute
		model  = 6 * time.Hour // downloads
		engine = 15 * time.Minute
	)
	return []Kind{
		{Name: "model", Plural: "models", Ready: model, Status: []string{"artifact", "commit", "outputPVCName"}},
		{
			Name: "dllama", Plural: "dllamas", Ready: serve, Fits: true, Status: []string{"url", "model", "nodes", "maxSeqLen", "rootMemoryBytes", "workerMemoryBytes"},
			StatusDependsOn: map[string][]string{"url": {"expose"}},
		},
		{Name: "session", Plural: "sessions", Ready: serve, Fits: true, Status: []string{"key", "model"}},
		{
			Name: "ingress", Plural: "ingresses", Ready: short, Status: []string{"url", "ingressName", "backendServiceName"},
			StatusDependsOn: map[string][]string{"url": {"service", "route"}, "ingress_name": {"route"}, "backend_service_name": {}},
		},
		{Name: "root", Plural: "roots", Ready: engine, Status: []string{"endpoint", "nodes"}},
		{Name: "worker", Plural: "workers", Ready: engine, Status: []string{"addresses"}},
	}
}

// load reads the kind's CRD, with the status that the state keeps.
func (k Kind) load() (*crd.Kind, error) {
	c, err := crd.Load(crd.Composite, k.Plural)
	if err != nil {
		return nil, err
	}
	status := *c.Status
	status.Fields = nil
	for _, f := range c.Status.Fields {
		for _, name := range k.Status {
			if f.Name == name {
				status.Fields = append(status.Fields, f)
			}
		}
	}
	c.Status = &status
	return c, nil
}

func resourceOf(c *crd.Kind) kube.Resource {
	return kube.Resource{Group: c.Group, Version: c.Version, Kind: c.Kind, Plural: c.Plural}
}
