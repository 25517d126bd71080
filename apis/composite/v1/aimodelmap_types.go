package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// An AIModelMap lists where the variants of a model are, for each engine. AIDeployments refer to a variant by its name, and follow changes of
// the map.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=aimap,categories=koldun
// +kubebuilder:printcolumn:name="Variants",type=integer,JSONPath=`.status.variants`
// +kubebuilder:printcolumn:name="Users",type=integer,JSONPath=`.status.userCount`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type AIModelMap struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   AIModelMapSpec   `json:"spec"`
	Status AIModelMapStatus `json:"status,omitempty"`
}

// AIModelMapSpec lists variants by engine.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.triton) && has(self.tensor_rt))",message="tensor_rt is the older name of triton: give either",fieldPath=".tensor_rt"
type AIModelMapSpec struct {
	// Variants for engine vllm.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=variant
	VLLM []AIModelVariant `json:"vllm,omitempty"`

	// Variants for engine sglang.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=variant
	SGLang []AIModelVariant `json:"sglang,omitempty"`

	// Variants for engine llama.cpp.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=variant
	LlamaCPP []AIModelVariant `json:"llamacpp,omitempty"`

	// Variants for engine localai.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=variant
	LocalAI []AIModelVariant `json:"localai,omitempty"`

	// Variants for engine deepspeed-mii.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=variant
	DeepSpeedMII []AIModelVariant `json:"deepspeed-mii,omitempty"`

	// Variants for engine triton.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=variant
	Triton []AIModelVariant `json:"triton,omitempty"`

	// Variants for engine triton, by an older name.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=variant
	TensorRT []AIModelVariant `json:"tensor_rt,omitempty"`

	// Variants for engine tensorrt-llm.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=variant
	TensorRTLLM []AIModelVariant `json:"tensorrt-llm,omitempty"`

	// Variants for engine tgi.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=variant
	TGI []AIModelVariant `json:"tgi,omitempty"`

	// Variants for engine ollama.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=variant
	Ollama []AIModelVariant `json:"ollama,omitempty"`

	// Variants for engine distributed-llama.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=variant
	DistributedLlama []AIModelVariant `json:"distributed-llama,omitempty"`

	// Who may refer to the map, besides the AIDeployments of its own namespace.
	// +optional
	Access *AIModelMapAccess `json:"access,omitempty"`
}

// AIModelMapAccess grants namespaces the use of a map.
type AIModelMapAccess struct {
	// Namespaces whose AIDeployments may refer to the map.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	Namespaces []string `json:"namespaces,omitempty"`
}

// AIModelVariant is one variant of a model.
type AIModelVariant struct {
	// Name of the variant.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=63
	Variant string `json:"variant"`

	AIModelData `json:",inline"`
}

// AIModelData says where a model is, and how the engine loads it.
type AIModelData struct {
	// Where the model is, as the engine names it: a repository of the hub (ORG/REPO), a URL, or a name of the engine's own library. With a
	// volume in modelSource it is a path in that.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][^\s$]*$`
	// +kubebuilder:validation:MaxLength=1024
	URI string `json:"uri,omitempty"`

	// Branch, tag or commit of a repository.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._/-]*$`
	// +kubebuilder:validation:MaxLength=128
	Revision string `json:"revision,omitempty"`

	// Number format in which the engine computes.
	// +optional
	// +kubebuilder:validation:Enum=int4;int8;int16;int32;bfloat16;float16;float32
	DataType string `json:"dataType,omitempty"`

	// Quantization of the weights, such as awq, gptq or gptq_marlin; with engine distributed-llama the type to convert to.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9_.-]*$`
	// +kubebuilder:validation:MaxLength=63
	Quantization string `json:"quantization,omitempty"`

	// Configuration file of the engine for the model, in YAML. Only engine localai has one.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	EngineConfigFile string `json:"engineConfigFile,omitempty"`
}

// AIModelMapStatus is the status of an AIModelMap.
type AIModelMapStatus struct {
	Status `json:",inline"`

	// Number of variants.
	// +optional
	Variants int32 `json:"variants"`

	// Number of AIDeployments that refer to the map, of all namespaces.
	// +optional
	UserCount int32 `json:"userCount"`

	// AIDeployments that refer to the map, NAMESPACE/NAME; at most 64.
	// +optional
	// +listType=atomic
	Users []string `json:"users,omitempty"`
}

// AIModelMapList is a list of AIModelMaps.
//
// +kubebuilder:object:root=true
type AIModelMapList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AIModelMap `json:"items"`
}
