package workload

import (
	"encoding/json"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// composedManager begins the name with which Crossplane applies composed objects.
const composedManager = "apiextensions.crossplane.io/composed"

// UnscaledReplicas returns the replicas of an observed Deployment as long as only
// Crossplane has set them, and nil if something else has, or nothing. A composition that
// leaves the number to an autoscaler or to kubectl scale desires it until then: the API
// server would replace a number that Crossplane gives up by 1.
func UnscaledReplicas(d appsv1.Deployment) *int32 {
	composed := false
	for _, m := range d.ManagedFields {
		var fields struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		if m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.Raw, &fields) != nil || fields.Spec["f:replicas"] == nil {
			continue
		}
		if !strings.HasPrefix(m.Manager, composedManager) {
			return nil
		}
		composed = true
	}
	if !composed {
		return nil
	}
	return d.Spec.Replicas
}
