package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Status is what every kind reports.
type Status struct {
	// Conditions of the object. Ready and Synced are Crossplane's; Serving is Koldun's: its reason comes from a documented list and its
	// message names what blocks and how to mend it.
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
	// ConditionServing says whether the object does what it is for.
	ConditionServing = "Serving"
	// ConditionDownloaded says whether a model's source files are in the object store, whole.
	ConditionDownloaded = "Downloaded"
	// ConditionConverted says whether a model's converted files are in the object store, whole.
	ConditionConverted = "Converted"
	// ConditionSized says whether the size of a model's files is known.
	ConditionSized = "Sized"
	// ConditionLegacyFields lists the fields that are accepted and have no effect. It is absent when there are none.
	ConditionLegacyFields = "LegacyFields"
)
