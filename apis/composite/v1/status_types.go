package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Status is the common part of every status.
type Status struct {
	// Conditions of the object. Crossplane sets Ready and Synced. Koldun sets Serving: its reason comes from a documented list, and its message
	// names the blocking object and the fix.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// Condition types that Koldun sets.
const (
	// ConditionServing reports whether the object fulfils its purpose.
	ConditionServing = "Serving"
	// ConditionDownloaded reports whether the source files of a model are complete in the object store.
	ConditionDownloaded = "Downloaded"
	// ConditionConverted reports whether the converted files of a model are complete in the object store.
	ConditionConverted = "Converted"
	// ConditionSized reports whether the size of a model's files is known.
	ConditionSized = "Sized"
	// ConditionRequested reports whether the nodes of a Dllama request the memory that they allocate. It is absent while they always have.
	ConditionRequested = "Requested"
	// ConditionLegacyFields lists fields that are accepted without effect. It is absent without such fields.
	ConditionLegacyFields = "LegacyFields"
	// ConditionPrerequisites is false while the cluster lacks what the object needs, and names the command that mends it. It is absent if nothing was ever missing.
	ConditionPrerequisites = "Prerequisites"
)
