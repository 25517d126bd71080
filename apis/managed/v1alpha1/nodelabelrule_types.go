package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeLabelRuleParameters select nodes and their labels.
//
// +kubebuilder:validation:XValidation:rule="self.labels.all(k, !k.contains('/') || !k.split('/')[0].endsWith('kubernetes.io') && !k.split('/')[0].endsWith('k8s.io'))",message="labels of kubernetes.io and k8s.io belong to Kubernetes"
type NodeLabelRuleParameters struct {
	// Expressions that must all match the labels of a node. A node matches if it fulfils all criteria; without any, every node matches.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	MatchExpressions []NodeLabelExpression `json:"matchExpressions,omitempty"`

	// Labels and values that a node must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	MatchLabels map[string]string `json:"matchLabels,omitempty"`

	// Least capacity of a node by resource, such as nvidia.com/gpu, memory and cpu.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Capacity map[string]resource.Quantity `json:"capacity,omitempty"`

	// System information of a node, by the names of fields of its status.nodeInfo. Values may have the wildcards * and ?, which match no slash:
	// {architecture: arm64, kernelVersion: 6.*}.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['architecture', 'containerRuntimeVersion', 'kernelVersion', 'kubeletVersion', 'operatingSystem', 'osImage'])",message="fields are architecture, containerRuntimeVersion, kernelVersion, kubeletVersion, operatingSystem and osImage"
	NodeInfo map[string]string `json:"nodeInfo,omitempty"`

	// Labels for matching nodes.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	Labels map[string]string `json:"labels"`

	// Priority among rules that give one label different values: the greatest wins, and among equals the first. A rule never changes a label
	// that no rule has given.
	// +optional
	// +kubebuilder:validation:Minimum=-1000000
	// +kubebuilder:validation:Maximum=1000000
	Priority int32 `json:"priority,omitempty"`
}

// A NodeLabelExpression compares one label of a node.
//
// +kubebuilder:validation:XValidation:rule="self.operator in ['Exists', 'DoesNotExist'] ? !has(self.values) || size(self.values) == 0 : has(self.values) && size(self.values) > 0",message="In, NotIn, Gt and Lt need values, Exists and DoesNotExist have none"
// +kubebuilder:validation:XValidation:rule="!(self.operator in ['Gt', 'Lt']) || has(self.values) && size(self.values) == 1 && self.values[0].matches('^-?[0-9]{1,18}$')",message="Gt and Lt need one value, a whole number"
type NodeLabelExpression struct {
	// Label.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key"`

	// Operator. NotIn and DoesNotExist match nodes without the label; Gt and Lt compare integers.
	// +kubebuilder:validation:Enum=Exists;In;NotIn;DoesNotExist;Gt;Lt
	Operator string `json:"operator"`

	// Values to compare with.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=63
	Values []string `json:"values,omitempty"`
}

// NodeLabelRuleObservation is the observed state of the nodes.
type NodeLabelRuleObservation struct {
	// Nodes that match.
	// +optional
	Matched int32 `json:"matched,omitempty"`

	// Nodes that have all labels of the rule.
	// +optional
	Labelled int32 `json:"labelled,omitempty"`

	// Matching nodes that already have a label of the rule with a value of another owner, or of a rule with at least the same priority. The rule
	// does not change them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	Conflicts []string `json:"conflicts,omitempty"`
}

// A NodeLabelRule labels matching nodes of the cluster. It removes its labels from nodes that no longer match, and when it is deleted. It does
// not change other labels.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Matched",type=integer,JSONPath=`.status.atProvider.matched`
// +kubebuilder:printcolumn:name="Labelled",type=integer,JSONPath=`.status.atProvider.labelled`
type NodeLabelRule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NodeLabelRuleSpec   `json:"spec"`
	Status NodeLabelRuleStatus `json:"status,omitempty"`
}

// NodeLabelRuleSpec is the desired state of a NodeLabelRule.
type NodeLabelRuleSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider NodeLabelRuleParameters `json:"forProvider"`
}

// NodeLabelRuleStatus is the observed state of a NodeLabelRule.
type NodeLabelRuleStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider NodeLabelRuleObservation `json:"atProvider,omitempty"`
}

// NodeLabelRuleList is a list of NodeLabelRules.
//
// +kubebuilder:object:root=true
type NodeLabelRuleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeLabelRule `json:"items"`
}
