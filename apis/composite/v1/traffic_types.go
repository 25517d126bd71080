package v1

// Traffic describes the share of requests that the Dllamas of a claim take of a name that several claims serve. A change of weight or fallback
// restarts nothing.
type Traffic struct {
	// Name in the namespace under which clients ask: a Model, or a name of its own, which GET /v1/models then lists. Defaults to the name of
	// the served Model.
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`
	Model string `json:"model,omitempty"`

	// Share of the requests, relative to the other claims that serve the name and have a free slot. It stays the same when the number of
	// Dllamas changes. 0 takes no new requests. Defaults to 100. Claims without traffic take a share of 100 together.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Weight *int32 `json:"weight,omitempty"`

	// Takes only requests that no ready Dllama of another claim serves.
	// +optional
	Fallback bool `json:"fallback,omitempty"`
}
