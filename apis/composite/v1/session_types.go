package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A Session is a pool of Dllamas for one model.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.scaling.minDllamas,statuspath=.status.dllamas
// +kubebuilder:resource:scope=Namespaced,shortName=sess,categories=koldun
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.model`
// +kubebuilder:printcolumn:name="Dllamas",type=integer,JSONPath=`.status.dllamas`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyDllamas`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type Session struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SessionSpec   `json:"spec"`
	Status SessionStatus `json:"status,omitempty"`
}

// SessionSpec describes a Session.
type SessionSpec struct {
	// Model that the pool serves.
	ModelRef ModelReference `json:"modelRef"`

	// Power p of the number of nodes of each Dllama: 2^p nodes in all.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	ReplicaPower int32 `json:"replicaPower,omitempty"`

	// Image of the root pods' engine. Defaults to the package's image.
	// +optional
	RootImage string `json:"rootImage,omitempty"`

	// Image of the worker pods' engine. Defaults to rootImage.
	// +optional
	WorkerImage string `json:"workerImage,omitempty"`

	// How the engines run.
	// +optional
	// +kubebuilder:default={}
	Engine Engine `json:"engine,omitempty"`

	// Size of the pool.
	// +optional
	// +kubebuilder:default={}
	Scaling Scaling `json:"scaling,omitempty"`
}

// Scaling is the size of a pool.
type Scaling struct {
	// Dllamas that are always there.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MinDllamas int32 `json:"minDllamas"`
}

// SessionStatus is what a Session reports.
type SessionStatus struct {
	Status `json:",inline"`

	// Model id as clients name it: namespace/name.
	// +optional
	Model string `json:"model,omitempty"`

	// Dllamas of the pool.
	// +optional
	Dllamas int32 `json:"dllamas"`

	// Dllamas of the pool that are ready.
	// +optional
	ReadyDllamas int32 `json:"readyDllamas"`
}

// SessionList is a list of Sessions.
//
// +kubebuilder:object:root=true
type SessionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Session `json:"items"`
}
