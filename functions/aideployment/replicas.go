package aideployment

import (
	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
)

// unowned is the number of pods if the claim gives none. Nil leaves it to what scales
// the Deployment.
func unowned(a *v1.AIDeploymentAutoscaling, d appsv1.Deployment) *int32 {
	n := workload.UnscaledReplicas(d)
	if n == nil || a == nil {
		return n
	}
	least := int32(1) // an autoscaler does nothing while there are no pods
	if a.MinReplicas != nil {
		least = *a.MinReplicas
	}
	return ptr(max(*n, least))
}
