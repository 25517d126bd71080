package aideployment

import (
	"bytes"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// ownReplicas is how an object's managedFields write that someone set spec.replicas.
var ownReplicas = []byte(`"f:replicas":`)

// managerPrefix begins the name with which Crossplane writes composed objects.
const managerPrefix = "apiextensions.crossplane.io/composed"

// unowned is the number of pods if the claim gives none. Nil leaves it to
// what scales the Deployment. Until then a number that only Crossplane has set stays: the
// API server would replace one that Crossplane gives up by 1.
func (p *plan) unowned(d appsv1.Deployment) *int32 {
	owned := false
	for _, m := range d.ManagedFields {
		if m.FieldsV1 == nil || m.Subresource == "status" || !bytes.Contains(m.FieldsV1.Raw, ownReplicas) {
			continue
		}
		if !strings.HasPrefix(m.Manager, managerPrefix) {
			return nil
		}
		owned = true
	}
	if !owned || d.Spec.Replicas == nil {
		return nil
	}
	n := *d.Spec.Replicas
	if a := p.d.Spec.Autoscaling; a != nil { // which does nothing while there are no pods
		least := int32(1)
		if a.MinReplicas != nil {
			least = *a.MinReplicas
		}
		n = max(n, least)
	}
	return &n
}
