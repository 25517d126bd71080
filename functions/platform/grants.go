package platform

import (
	"path"
	"slices"
)

// Grants allow claims rights that the objects of pods, Services and routes carry, and that an
// author of claims may not have. In all lists * stands for any characters but a slash, and an
// entry * for everything.
type Grants struct {
	// Annotations of pods, Services, routes and ServiceAccounts, by name.
	Annotations []string `json:"annotations,omitempty"`
	// Hosts of routes and of their certificates.
	Hosts []string `json:"hosts,omitempty"`
	// ServiceTypes besides ClusterIP.
	ServiceTypes []string `json:"serviceTypes,omitempty"`
	// ServiceAccounts that pods run as.
	ServiceAccounts []string `json:"serviceAccounts,omitempty"`
	// PriorityClasses of pods.
	PriorityClasses []string `json:"priorityClasses,omitempty"`
	// RuntimeClasses of pods.
	RuntimeClasses []string `json:"runtimeClasses,omitempty"`
	// Tolerations by the key of the taint; those without a key are of all taints.
	Tolerations []string `json:"tolerations,omitempty"`
	// NodeLabels that Kubernetes keeps from nodes, for the choice of nodes.
	NodeLabels []string `json:"nodeLabels,omitempty"`
	// AffinityNamespaces are other namespaces whose pods affinity counts.
	AffinityNamespaces []string `json:"affinityNamespaces,omitempty"`
	// Privileges of pods and containers: see Privileges.
	Privileges []string `json:"privileges,omitempty"`
}

// list returns the entries of a grant.
func (g Grants) list(grant string) []string {
	switch grant {
	case "annotations":
		return g.Annotations
	case "hosts":
		return g.Hosts
	case "serviceTypes":
		return g.ServiceTypes
	case "serviceAccounts":
		return g.ServiceAccounts
	case "priorityClasses":
		return g.PriorityClasses
	case "runtimeClasses":
		return g.RuntimeClasses
	case "tolerations":
		return g.Tolerations
	case "nodeLabels":
		return g.NodeLabels
	case "affinityNamespaces":
		return g.AffinityNamespaces
	case "privileges":
		return g.Privileges
	}
	return nil
}

// noun names one value of a grant.
func noun(grant string) string {
	switch grant {
	case "annotations":
		return "annotation"
	case "hosts":
		return "host"
	case "serviceTypes":
		return "Service type"
	case "serviceAccounts":
		return "ServiceAccount"
	case "priorityClasses":
		return "PriorityClass"
	case "runtimeClasses":
		return "RuntimeClass"
	case "tolerations":
		return "toleration of taint"
	case "nodeLabels":
		return "label of nodes"
	case "affinityNamespaces":
		return "affinity to pods of namespace"
	}
	return "privilege"
}

// allows reports whether an entry of the grant covers the value.
func (g Grants) allows(u Use) bool {
	return slices.ContainsFunc(g.list(u.Grant), func(entry string) bool {
		ok, err := path.Match(entry, u.Value)
		return entry == "*" || err == nil && ok
	})
}
