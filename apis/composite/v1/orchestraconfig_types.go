package v1

// OrchestraServerConfig has the settings of Takeoff's server. Their names in its config.yaml are in snake case.
type OrchestraServerConfig struct {
	// Port to which readers connect. Defaults to 3005.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	InternalPort *int32 `json:"internalPort,omitempty"`

	// Whether requests may name images by URL.
	// +optional
	AllowRemoteImages *bool `json:"allowRemoteImages,omitempty"`

	// Longest time between two tokens of a reader, in milliseconds.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReaderMessageTimeoutMs *int64 `json:"readerMessageTimeoutMs,omitempty"`

	// Consumer groups, separated by commas, whose requests wait while they have no reader.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	ReservedConsumers string `json:"reservedConsumers,omitempty"`

	// Largest prompt, in bytes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxPromptStringBytes *int64 `json:"maxPromptStringBytes,omitempty"`

	// Largest batch of a request.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxUserBatchSize *int64 `json:"maxUserBatchSize,omitempty"`

	// Largest body of a request, in bytes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	BodySizeLimitBytes *int64 `json:"bodySizeLimitBytes,omitempty"`

	// Seconds between two checks for dead readers. 0 is never.
	// +optional
	// +kubebuilder:validation:Minimum=0
	HeartbeatCheckInterval *int64 `json:"heartbeatCheckInterval,omitempty"`

	// Further settings by their names in config.yaml. Each value is YAML: 10, true, "text" or [1, 2].
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 63 && k.matches('^[a-z][a-z0-9_]*$') && !k.matches('key$|keys$|passw|passphrase|(^|_)pass(_|$)|secret|licen[cs]e|credential|token$|(^|_)token_'))",message="names are in snake case; tokens, keys, licenses and passwords belong into env, from a Secret"
	Extra map[string]string `json:"extra,omitempty"`
}

// OrchestraReaderConfig has the settings of one of Takeoff's readers. Their names in its config.yaml are in snake case.
//
// +kubebuilder:validation:XValidation:rule="!has(self.accessToken)",message="a ConfigMap would hold it: put the token into a Secret and name that in accessTokenSecretRef",fieldPath=".accessToken"
// +kubebuilder:validation:XValidation:rule="!has(self.tensorParallel) || self.tensorParallel == 1 || self.tensorParallel % 2 == 0",message="tensorParallel is 1 or even",fieldPath=".tensorParallel"
// +kubebuilder:validation:XValidation:rule="!has(self.tensorParallel) || self.tensorParallel == 1 || !has(self.device) || self.device != 'cpu'",message="tensorParallel needs a device other than cpu",fieldPath=".tensorParallel"
type OrchestraReaderConfig struct {
	// Repository of the model on the hub, or a folder of the models volume.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	ModelName string `json:"modelName,omitempty"`

	// Where the model runs. Defaults to cpu.
	// +optional
	// +kubebuilder:validation:Enum=cpu;cuda;api
	Device string `json:"device,omitempty"`

	// Queue from which the reader takes requests, and the name by which clients ask for the model. Applications of one group share it.
	// Defaults to primary; with backend Koldun to the name of the application.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$`
	// +kubebuilder:validation:MaxLength=63
	ConsumerGroup string `json:"consumerGroup,omitempty"`

	// Whether requests wait while all readers are busy. Defaults to true.
	// +optional
	BufferRequests *bool `json:"bufferRequests,omitempty"`

	// Refused: a ConfigMap would hold it. Use accessTokenSecretRef.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	AccessToken string `json:"accessToken,omitempty"`

	// Secret with the token of the hub. Pods get it in the environment only.
	// +optional
	AccessTokenSecretRef *SecretKeyReference `json:"accessTokenSecretRef,omitempty"`

	// Level of the reader's log.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	LogLevel string `json:"logLevel,omitempty"`

	// Devices that the reader sees, separated by commas. Defaults to the first one.
	// +optional
	// +kubebuilder:validation:Pattern=`^[0-9A-Za-z-]+(,[0-9A-Za-z-]+)*$`
	// +kubebuilder:validation:MaxLength=256
	CudaVisibleDevices string `json:"cudaVisibleDevices,omitempty"`

	// Largest batch that the reader computes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxBatchSize *int32 `json:"maxBatchSize,omitempty"`

	// GPUs that share the model: 1 or an even number.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	TensorParallel *int32 `json:"tensorParallel,omitempty"`

	// Quantisation.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	QuantType string `json:"quantType,omitempty"`

	// Longest context, in tokens.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxSequenceLength *int32 `json:"maxSequenceLength,omitempty"`

	// Whether CUDA graphs are off.
	// +optional
	DisableCudaGraph *bool `json:"disableCudaGraph,omitempty"`

	// CUDA graphs to keep.
	// +optional
	// +kubebuilder:validation:Minimum=0
	CudaGraphCacheCapacity *int32 `json:"cudaGraphCacheCapacity,omitempty"`

	// Size of the page cache: 5GB, or 90% of the memory.
	// +optional
	// +kubebuilder:validation:Pattern=`^[0-9]+(\.[0-9]+)?([KMGT]?B|%)$`
	// +kubebuilder:validation:MaxLength=32
	PageCacheSize string `json:"pageCacheSize,omitempty"`

	// Most tokens of a part of a prompt.
	// +optional
	// +kubebuilder:validation:Minimum=1
	PrefillChunkSize *int32 `json:"prefillChunkSize,omitempty"`

	// Bits of the values of the quantised cache.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	QuantizeCacheBits *int32 `json:"quantizeCacheBits,omitempty"`

	// Size of the cache on SSD, in bytes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	SSDCacheSize *int64 `json:"ssdCacheSize,omitempty"`

	// Backend of constrained decoding.
	// +optional
	// +kubebuilder:validation:Enum=lmfe;outlines;all;none
	ConstrainedDecodingBackend string `json:"constrainedDecodingBackend,omitempty"`

	// Most consecutive white space with the backend lmfe.
	// +optional
	// +kubebuilder:validation:Minimum=0
	LmfeMaxConsecutiveWhitespaces *int32 `json:"lmfeMaxConsecutiveWhitespaces,omitempty"`

	// Whether the reader logs JSON.
	// +optional
	ReaderLogAsJSON *bool `json:"readerLogAsJson,omitempty"`

	// LoRA adapters to load.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Loras string `json:"loras,omitempty"`

	// Whether the reader processes documents.
	// +optional
	EnableDocumentProcessing *bool `json:"enableDocumentProcessing,omitempty"`

	// Further settings by their names in config.yaml. Each value is YAML: 10, true, "text" or [1, 2].
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 63 && k.matches('^[a-z][a-z0-9_]*$') && !k.matches('key$|keys$|passw|passphrase|(^|_)pass(_|$)|secret|licen[cs]e|credential|token$|(^|_)token_'))",message="names are in snake case; tokens, keys, licenses and passwords belong into env, from a Secret"
	Extra map[string]string `json:"extra,omitempty"`
}
