package local

// Kinds of connections.
const (
	namespacedConfig = "ProviderConfig"
	clusterConfig    = "ClusterProviderConfig"
)

// A class selects how objects of a kind are handled.
type class int

const (
	foreignClass   class = iota // stored, and reported as not run here
	plainClass                  // stored, without effect on one machine
	secretClass                 // a Secret or ConfigMap, stored for pods
	configClass                 // connections, stored for Managed
	compositeClass              // composed
	managedClass                // reconciled by Managed
	workloadClass               // processes that are kept running
	jobClass                    // processes that run to completion
	serviceClass                // a port
)

func classOf(k Key) class {
	switch k.Group() {
	case CompositeGroup:
		return compositeClass
	case ManagedGroup:
		if k.Kind == clusterConfig || k.Kind == namespacedConfig {
			return configClass
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
