// Package prerequisites describes what a cluster needs to have around Koldun's
// objects: kinds of other projects, rights of Crossplane, and StorageClasses.
//
// The provider writes what it finds into an EnvironmentConfig, a kind of Crossplane's
// own that every Crossplane may read, and the Function reads it before it composes an
// object of such a kind: once a composite refers to an object that Crossplane cannot
// read, Crossplane does not call the Function any more.
package prerequisites

import "slices"

// The EnvironmentConfig that holds a Found in its field data.
const (
	APIVersion = "apiextensions.crossplane.io/v1beta1"
	Kind       = "EnvironmentConfig"
	Name       = "koldun-prerequisites"
)

// A Found is what the provider has found out about the cluster. Its zero value is that
// of a cluster that has everything but StorageClasses.
type Found struct {
	// Absent lists kinds that the API server does not serve, as KIND.GROUP.
	Absent []string `json:"absent,omitempty"`
	// Forbidden lists kinds that Crossplane may not manage, as KIND.GROUP.
	Forbidden []string `json:"forbidden,omitempty"`
	// StorageClasses is nil if they are not known.
	StorageClasses *StorageClasses `json:"storageClasses,omitempty"`
}

// StorageClasses are those of the cluster.
type StorageClasses struct {
	Names []string `json:"names"`
	// Default is the class of claims that name none; empty if there is none.
	Default string `json:"default,omitempty"`
}

// A Needed is a kind that Koldun composes. Crossplane can compose it only if the cluster
// serves the kind and Crossplane has the right to write it.
type Needed struct {
	Group, Version, Kind string
	Resource             string // plural
	// Of is the project that brings the kind; empty for Kubernetes itself.
	Of string
	// Install is the command that installs the project.
	Install string
	// Optional kinds lead to a service, scale or watch it: what serves does so without them.
	Optional bool
}

// Name returns KIND.GROUP, or KIND for Kubernetes' core group.
func (n Needed) Name() string {
	if n.Group == "" {
		return n.Kind
	}
	return n.Kind + "." + n.Group
}

// APIVersion returns GROUP/VERSION.
func (n Needed) APIVersion() string {
	if n.Group == "" {
		return n.Version
	}
	return n.Group + "/" + n.Version
}

// All returns the kinds that are needed. Crossplane may manage the others that Koldun
// composes as soon as it and Koldun's packages are installed.
func All() []Needed {
	const charts = " --create-namespace --repo https://"
	return []Needed{
		{Group: "", Version: "v1", Kind: "PersistentVolumeClaim", Resource: "persistentvolumeclaims"},
		{Group: "apps", Version: "v1", Kind: "StatefulSet", Resource: "statefulsets"},
		{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Resource: "horizontalpodautoscalers", Optional: true},
		{Group: "batch", Version: "v1", Kind: "Job", Resource: "jobs"},
		{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress", Resource: "ingresses", Optional: true},
		{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy", Resource: "networkpolicies"},
		{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Optional: true},
		{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute", Resource: "httproutes", Of: "the Gateway API", Optional: true,
			Install: "kubectl apply --server-side -f https://github.com/kubernetes-sigs/gateway-api/releases/latest/download/standard-install.yaml"},
		{Group: "keda.sh", Version: "v1alpha1", Kind: "ScaledObject", Resource: "scaledobjects", Of: "KEDA", Optional: true,
			Install: "helm install keda keda --namespace keda" + charts + "kedacore.github.io/charts"},
		{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor", Resource: "servicemonitors", Of: "the Prometheus Operator", Optional: true,
			Install: "helm install prometheus kube-prometheus-stack --namespace monitoring" + charts + "prometheus-community.github.io/helm-charts"},
	}
}

// Of returns the needed kind of an object; ok is false if it is none.
func Of(apiVersion, kind string) (n Needed, ok bool) {
	all := All()
	i := slices.IndexFunc(all, func(n Needed) bool { return n.Kind == kind && n.APIVersion() == apiVersion })
	if i < 0 {
		return Needed{}, false
	}
	return all[i], true
}
