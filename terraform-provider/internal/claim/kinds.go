// Package claim holds the Terraform resources of claims: objects in a cluster,
// such as a Dllama or a Model, that Crossplane composes. It writes them by
// server-side apply, so that other programs own the fields that the
// configuration does not mention.
package claim

import (
	"slices"
	"time"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/kube"
)

// A Kind describes a resource beyond its CRD.
type Kind struct {
	Name   string // in Terraform, without "koldun_"
	Plural string // of the CRD
	// Status are the fields of the status in the state. Those that change all the
	// time are in data sources only.
	Status []string
	// StatusDependsOn lists, for some of these fields, all attributes that their
	// values depend on: while these stay, a plan knows the value.
	StatusDependsOn map[string][]string
	// Rename has the attributes of fields, by their names in YAML, whose usual
	// attribute is one of those that every claim has.
	Rename map[string]string
	Ready  time.Duration // how long Create and Update wait until it is ready
	// Fits enables the checks of the number of nodes, against the engine and the
	// model's config.json.
	Fits bool
}

// Kinds returns all kinds of claims.
func Kinds() []Kind {
	const (
		short  = 5 * time.Minute
		serve  = 30 * time.Minute
		model  = 6 * time.Hour // downloads
		engine = 15 * time.Minute
	)
	return []Kind{
		{Name: "model", Plural: "models", Ready: model, Status: []string{"artifact", "commit", "outputPVCName"}},
		{Name: "model_download", Plural: "modeldownloads", Ready: model, Status: []string{"completed", "failed"}},
		{
			Name: "dllama", Plural: "dllamas", Ready: serve, Fits: true, Status: []string{"url", "model", "nodes", "maxSeqLen", "rootMemoryBytes", "workerMemoryBytes"},
			StatusDependsOn: map[string][]string{"url": {"expose"}},
		},
		{Name: "session", Plural: "sessions", Ready: serve, Fits: true, Status: []string{"key", "model"}},
		{
			Name: "ingress", Plural: "ingresses", Ready: short, Status: []string{"url", "ingressName", "backendServiceName"},
			StatusDependsOn: map[string][]string{"url": {"service", "route"}, "ingress_name": {"route"}, "backend_service_name": {}},
		},
		{Name: "ai_model_map", Plural: "aimodelmaps", Ready: short, Status: []string{"variants"}},
		{Name: "ai_deployment", Plural: "aideployments", Ready: serve, Status: []string{"url", "endpoints", "resolvedModels"}},
		{Name: "root", Plural: "roots", Ready: engine, Status: []string{"endpoint", "nodes"}},
		{Name: "auto_node_labeler", Plural: "autonodelabelers", Ready: short, Rename: map[string]string{"labels": "node_labels"}, Status: []string{"matched", "labelled", "conflicts"}},
		{Name: "model_orchestra", Plural: "modelorchestras", Ready: serve, Status: []string{"url", "gatewayServiceName"}},
		{Name: "worker", Plural: "workers", Ready: engine, Status: []string{"addresses"}},
	}
}

// load returns the kind's CRD, with only the fields of the status in the state.
func (k Kind) load() (*crd.Kind, error) {
	c, err := k.loadWhole()
	if err != nil {
		return nil, err
	}
	out, status := *c, *c.Status
	status.Fields = nil
	for _, f := range c.Status.Fields {
		if slices.Contains(k.Status, f.Name) {
			status.Fields = append(status.Fields, f)
		}
	}
	out.Status = &status
	return &out, nil
}

// loadWhole returns the kind's CRD, with all fields of the status.
func (k Kind) loadWhole() (*crd.Kind, error) {
	c, err := crd.Load(crd.Composite, k.Plural)
	if err != nil || len(k.Rename) == 0 {
		return c, err
	}
	out, spec := *c, *c.Spec
	spec.Fields = nil
	for _, f := range c.Spec.Fields {
		if attribute, ok := k.Rename[f.Name]; ok {
			renamed := *f
			renamed.Attribute, f = attribute, &renamed
		}
		spec.Fields = append(spec.Fields, f)
	}
	out.Spec = &spec
	return &out, nil
}

func resourceOf(c *crd.Kind) kube.Resource {
	return kube.Resource{Group: c.Group, Version: c.Version, Kind: c.Kind, Plural: c.Plural}
}
