package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// An AutoNodeLabeler labels the nodes that fulfil its criteria. It removes its labels from nodes that no longer fulfil them, and when it is
// changed or deleted. It never changes a label that it has not given.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=anl,categories=koldun
// +kubebuilder:printcolumn:name="Matched",type=integer,JSONPath=`.status.matched`
// +kubebuilder:printcolumn:name="Labelled",type=integer,JSONPath=`.status.labelled`
// +kubebuilder:printcolumn:name="Priority",type=integer,JSONPath=`.spec.priority`,priority=1
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type AutoNodeLabeler struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   AutoNodeLabelerSpec   `json:"spec"`
	Status AutoNodeLabelerStatus `json:"status,omitempty"`
}

// AutoNodeLabelerSpec describes nodes and their labels.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.matchExpression) && has(self.matchExpressions))",message="give either matchExpression or matchExpressions, not both",fieldPath=".matchExpression"
type AutoNodeLabelerSpec struct {
	// The only expression that must match the labels of a node. Shorter form of matchExpressions.
	// +optional
	MatchExpression *v1alpha1.NodeLabelExpression `json:"matchExpression,omitempty"`

	v1alpha1.NodeLabelRuleParameters `json:",inline"`
}

// AutoNodeLabelerStatus is the status of an AutoNodeLabeler.
type AutoNodeLabelerStatus struct {
	Status `json:",inline"`

	v1alpha1.NodeLabelRuleObservation `json:",inline"`
}

// AutoNodeLabelerList is a list of AutoNodeLabelers.
//
// +kubebuilder:object:root=true
type AutoNodeLabelerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AutoNodeLabeler `json:"items"`
}
