package local

import "strings"

// A class says what is done with objects of a kind.
type class int

const (
	foreignClass   class = iota // kept, and reported as not run here
	plainClass                  // kept: nothing on one machine comes of it
	secretClass                 // a Secret or ConfigMap, kept for pods
	compositeClass              // composed
	managedClass                // brought about by Managed
	workloadClass               // processes that are kept running
	jobClass                    // processes that run to their end
	serviceClass                // a port
)

func classOf(k Key) class {
	switch k.Group() {
	case CompositeGroup:
		return compositeClass
	case ManagedGroup:
		if strings.HasSuffix(k.Kind, "ProviderConfig") {
			return plainClass
		}
		return managedClass
	}
	switch k.APIVersion + " " + k.Kind {
	case "apps/v1 Deployment", "apps/v1 StatefulSet":
		return workloadClass
	case "batch/v1 Job":
		return jobClass
	case "v1 Service":
		return serviceClass
	case "v1 Secret", "v1 ConfigMap":
		return secretClass
	case "v1 ServiceAccount", "v1 PersistentVolumeClaim", "policy/v1 PodDisruptionBudget",
		"networking.k8s.io/v1 NetworkPolicy", "rbac.authorization.k8s.io/v1 Role",
		"rbac.authorization.k8s.io/v1 RoleBinding":
		return plainClass
	}
	return foreignClass
}
