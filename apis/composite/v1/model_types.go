package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	managed "github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// A Model is a language model in object storage: downloaded from a hub at a pinned commit, verified, and converted to the formats of
// distributed-llama.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=mdl,categories=koldun
// +kubebuilder:printcolumn:name="Weights",type=string,JSONPath=`.status.artifact.weights`
// +kubebuilder:printcolumn:name="Size",type=string,JSONPath=`.status.conversionSizeHuman`
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="ETA",type=string,JSONPath=`.status.eta`
// +kubebuilder:printcolumn:name="Commit",type=string,JSONPath=`.status.commit`,priority=1
// +kubebuilder:printcolumn:name="Volume",type=string,JSONPath=`.status.outputPVCName`,priority=1
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type Model struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ModelSpec   `json:"spec"`
	Status ModelStatus `json:"status,omitempty"`
}

// ModelSpec describes a Model.
//
// +kubebuilder:validation:XValidation:rule="has(self.sourceUrl) || (has(self.preConverted) && self.preConverted)",message="sourceUrl is required, unless preConverted is true",reason=FieldValueRequired,fieldPath=".sourceUrl"
// +kubebuilder:validation:XValidation:rule="!has(self.preConverted) || !self.preConverted || has(self.preConvertedPVCName)",message="preConverted needs preConvertedPVCName, the claim that holds the files",reason=FieldValueRequired,fieldPath=".preConvertedPVCName"
type ModelSpec struct {
	// Repository to download: https://huggingface.co/ORG/REPO, optionally with /tree/REVISION, or hf://ORG/REPO@REVISION.
	// +optional
	// +kubebuilder:validation:MinLength=6
	// +kubebuilder:validation:MaxLength=512
	SourceURL string `json:"sourceUrl,omitempty"`

	// Branch, tag or commit of the repository. It is resolved once to a commit, and only that commit is downloaded. Defaults to the
	// revision in sourceUrl, else to main.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Revision string `json:"revision,omitempty"`

	// Location of the source files: s3://BUCKET/PREFIX, or a prefix in objectStorage.bucketForSource. It contains folders by commit.
	// Defaults to a prefix derived from the repository's name, which Models of the same source share.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	LocalPath string `json:"localPath,omitempty"`

	// Object store of the files. Defaults to the bucket koldun-models of the default object store.
	// +optional
	ObjectStorage *ObjectStorage `json:"objectStorage,omitempty"`

	// Other namespaces that may use the Model; * is all. Their Dllamas and Sessions serve it by spec.modelRef and their Roots by spec.serves, in
	// pools of their own, and their Dllamas ask the gateways of this namespace by spec.ingressRef. Those of its own always may.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^(\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$`
	AllowedNamespaces []string `json:"allowedNamespaces,omitempty"`

	// Older form of objectStorage.
	// +optional
	CacheSpec *CacheSpec `json:"cacheSpec,omitempty"`

	// NATS servers of the registry.
	// +optional
	NATS *NATSConnection `json:"nats,omitempty"`

	// Arguments of the engine. --model and --tokenizer name the files, --buffer-float-type, --max-seq-len and --nthreads are the defaults
	// of the Dllamas that serve the Model.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	LaunchOptions []string `json:"launchOptions,omitempty"`

	// Power p of the default number of nodes, 2^p, of Dllamas that serve this Model.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	ReplicaPower *int32 `json:"replicaPower,omitempty"`

	// Settings of the download.
	// +optional
	Download *Download `json:"download,omitempty"`

	// Settings of the conversion. By default the weights are converted to q40.
	// +optional
	Conversion *Conversion `json:"conversion,omitempty"`

	// Volume with the converted files. By default there is none, and roots fetch the files.
	// +optional
	PV *Volume `json:"pv,omitempty"`

	// Whether a volume already contains the converted files. Then nothing is downloaded or converted, and a Job reads their headers.
	// +optional
	PreConverted bool `json:"preConverted,omitempty"`

	// PersistentVolumeClaim with the files of a preConverted Model.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PreConvertedPVCName string `json:"preConvertedPVCName,omitempty"`

	// Size of the files of a preConverted Model, in bytes. Defaults to the size that is found.
	// +optional
	// +kubebuilder:validation:Minimum=0
	PreConvertedSizeBytes int64 `json:"preConvertedSizeBytes,omitempty"`

	// Human-readable size of the files of a preConverted Model. Defaults to a value computed from preConvertedSizeBytes.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	PreConvertedSizeHuman string `json:"preConvertedSizeHuman,omitempty"`

	// Network policies of the Jobs: Enabled lets others reach only the ports that serve, and the pods only what they need. Defaults to Enabled.
	// +optional
	// +kubebuilder:validation:Enum=Enabled;Disabled
	NetworkPolicy NetworkPolicy `json:"networkPolicy,omitempty"`

	// When images of the Jobs are pulled.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// Scheduling of the Jobs.
	// +optional
	Scheduling *Scheduling `json:"scheduling,omitempty"`

	PodEnv `json:",inline"`

	// No effect: Jobs install no packages.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PipProxy string `json:"pipProxy,omitempty"`
}

// ObjectStorage names an object store and the buckets of a Model in it.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.endpoint) && has(self.providerConfigRef))",message="give either endpoint or providerConfigRef, not both",fieldPath=".endpoint"
type ObjectStorage struct {
	// Endpoint of the S3 API: http[s]://HOST[:PORT]. Defaults to the default object store.
	// +optional
	// +kubebuilder:validation:Pattern=`^https?://[^/?#@ ]+/?$`
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint,omitempty"`

	// Region of the buckets. Defaults to AWS_REGION of the Secret. No effect without endpoint or secretRef.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Region string `json:"region,omitempty"`

	// Secret with the access key: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or accessKey and secretKey, in any case of letters.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`

	// ProviderConfig or ClusterProviderConfig of the object store.
	// +optional
	ProviderConfigRef *ProviderConfigReference `json:"providerConfigRef,omitempty"`

	// Bucket for the source files.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	BucketForSource string `json:"bucketForSource,omitempty"`

	// Bucket for the converted files. Defaults to bucketForSource.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	BucketForConvert string `json:"bucketForConvert,omitempty"`

	// Whether missing buckets are created. Existing buckets are not changed.
	// +optional
	// +kubebuilder:default=true
	ManageBuckets *bool `json:"manageBuckets,omitempty"`
}

// Download has the settings of a Model's download.
type Download struct {
	// Concurrent parts.
	// +optional
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Concurrency int32 `json:"concurrency,omitempty"`

	// Glob patterns of the files to download. Defaults to all files that conversion can use.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	Include []string `json:"include,omitempty"`

	// Glob patterns of files to exclude.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	Exclude []string `json:"exclude,omitempty"`

	// Secret with the key "token", for gated and private repositories.
	// +optional
	HuggingFaceTokenSecretRef *SecretReference `json:"huggingFaceTokenSecretRef,omitempty"`

	// Memory of the Job, request and limit. It needs, and has by default, 64 MiB plus concurrency times twice the size of a part.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`

	// Maximum size of a part in memory, in MiB.
	// +optional
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=1024
	ChunkMaxMiB int32 `json:"chunkMaxMiB,omitempty"`

	// No effect: the package's image downloads.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// No effect: the package's image downloads.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Command []string `json:"command,omitempty"`

	// No effect: the package's image downloads.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Args []string `json:"args,omitempty"`
}

// Conversion has the settings of a Model's conversion.
//
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'None' || !(has(self.weightsFloatType) || has(self.convertWeights) || has(self.outputPath) || has(self.memory))",message="weightsFloatType, convertWeights, outputPath and memory have no effect without a conversion",fieldPath=".type"
type Conversion struct {
	// What the source files are converted to: DistributedLlama, or None for servers that load the source files themselves. Defaults to None
	// in a Dllama with a server, else to DistributedLlama.
	// +optional
	// +kubebuilder:validation:Enum=DistributedLlama;None
	Type string `json:"type,omitempty"`

	// Type of the matrix weights: q40 (4.5 bits a weight) or f32. Defaults to q40.
	// +optional
	// +kubebuilder:validation:Enum=q40;f32
	WeightsFloatType string `json:"weightsFloatType,omitempty"`

	// Type of the matrix weights, instead of weightsFloatType.
	// +optional
	// +kubebuilder:validation:Enum=q40;f32
	ConvertWeights string `json:"convertWeights,omitempty"`

	// Location of the converted files: s3://BUCKET/PREFIX, or a prefix in objectStorage.bucketForConvert. It contains folders by commit and
	// type of weights. Defaults to localPath.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	OutputPath string `json:"outputPath,omitempty"`

	// Memory of the Job, request and limit. Defaults to 256Mi, which is enough for any model.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`

	// No effect: the package's image converts.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// No effect: the package's image converts.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Command []string `json:"command,omitempty"`

	// No effect: the package's image converts.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Args []string `json:"args,omitempty"`

	// No effect: nothing is mounted.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	RcloneImage string `json:"rcloneImage,omitempty"`

	// No effect: no tools are needed.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ToolsImage string `json:"toolsImage,omitempty"`

	// No effect: the package's image converts, with the same bytes as the converter of distributed-llama.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ConverterVersion string `json:"converterVersion,omitempty"`

	// No effect: the package's image converts.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	WriterURL string `json:"writerURL,omitempty"`

	// No effect: the package's image converts.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	WriterConfigMap string `json:"writerConfigMap,omitempty"`

	// No effect: nothing is installed at run time.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	Dependencies map[string]string `json:"dependencies,omitempty"`
}

// Volume describes a volume with the converted files of a Model. A claim that Crossplane keeps as a cluster-scoped composite gets a static
// volume of the CSI driver over the object store; a namespaced composite gets a claim of a storage class, which a Job fills.
type Volume struct {
	// Storage class that binds the static volume and its claim.
	// +optional
	// +kubebuilder:default=csi-s3
	// +kubebuilder:validation:MaxLength=253
	StorageClassName string `json:"storageClassName,omitempty"`

	// Capacity of the volume.
	// +optional
	// +kubebuilder:default="10Gi"
	Capacity *resource.Quantity `json:"capacity,omitempty"`

	// Access modes of the volume.
	// +optional
	// +kubebuilder:default={ReadWriteMany}
	// +kubebuilder:validation:MaxItems=4
	AccessModes []corev1.PersistentVolumeAccessMode `json:"accessModes,omitempty"`

	// Reclaim policy of the volume.
	// +optional
	// +kubebuilder:default=Retain
	// +kubebuilder:validation:Enum=Retain;Delete
	ReclaimPolicy corev1.PersistentVolumeReclaimPolicy `json:"reclaimPolicy,omitempty"`

	// CSI driver of the static volume.
	// +optional
	// +kubebuilder:default=ru.yandex.s3.csi
	// +kubebuilder:validation:MaxLength=63
	CSIDriver string `json:"csiDriver,omitempty"`

	// Volume attribute "mounter" of the static volume.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	CSIMounter string `json:"csiMounter,omitempty"`

	// Volume attribute "options" of the static volume.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	CSIOptions string `json:"csiOptions,omitempty"`

	// Further volume attributes of the static volume.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	VolumeAttributes map[string]string `json:"volumeAttributes,omitempty"`

	// Secret for mounts of the CSI driver.
	// +optional
	// +kubebuilder:default=csi-s3-secret
	// +kubebuilder:validation:MaxLength=253
	CSISecretName string `json:"csiSecretName,omitempty"`

	// Namespace of the Secret for mounts of the CSI driver.
	// +optional
	// +kubebuilder:default=kube-system
	// +kubebuilder:validation:MaxLength=63
	CSISecretNamespace string `json:"csiSecretNamespace,omitempty"`

	// Storage class of the claim. Empty binds the static volume; a claim that a Job fills uses the cluster's default class then.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PVCStorageClassName string `json:"pvcStorageClassName,omitempty"`

	// Capacity of the claim. Defaults to capacity.
	// +optional
	PVCCapacity *resource.Quantity `json:"pvcCapacity,omitempty"`

	// Access modes of the claim.
	// +optional
	// +kubebuilder:default={ReadWriteMany}
	// +kubebuilder:validation:MaxItems=4
	PVCAccessModes []corev1.PersistentVolumeAccessMode `json:"pvcAccessModes,omitempty"`
}

// ModelStatus is the status of a Model.
type ModelStatus struct {
	Status `json:",inline"`

	// Commit to which the revision was resolved.
	// +optional
	Commit string `json:"commit,omitempty"`

	// Header of the model by the repository's config.json, before it is downloaded and converted.
	// +optional
	Shape *managed.ModelShape `json:"shape,omitempty"`

	// The converted files, when they are complete.
	// +optional
	Artifact *Artifact `json:"artifact,omitempty"`

	// Progress of the running Job, in percent: "fetch 42%".
	// +optional
	Progress string `json:"progress,omitempty"`

	// Estimated time until the Job ends: "12m". Empty while it is not known.
	// +optional
	ETA string `json:"eta,omitempty"`

	// Size of the source files, in bytes.
	// +optional
	ArtifactSizeBytes int64 `json:"artifactSizeBytes,omitempty"`

	// Job that downloads.
	// +optional
	DownloadJobName string `json:"downloadJobName,omitempty"`

	// State of the download: Pending, Running, Succeeded, Failed or NotRequested.
	// +optional
	DownloadJobState string `json:"downloadJobState,omitempty"`

	// Job that converts.
	// +optional
	ConversionJobName string `json:"conversionJobName,omitempty"`

	// State of the conversion: Pending, Running, Succeeded, Failed or NotRequested.
	// +optional
	ConversionJobState string `json:"conversionJobState,omitempty"`

	// Size of the converted files by their manifest, in bytes.
	// +optional
	ConversionSizeBytes int64 `json:"conversionSizeBytes,omitempty"`

	// Human-readable size of the converted files.
	// +optional
	ConversionSizeHuman string `json:"conversionSizeHuman,omitempty"`

	// State of sizing: Succeeded once the size is known.
	// +optional
	ConversionSizeJobState string `json:"conversionSizeJobState,omitempty"`

	// Never set: sizes come from the manifest, without a Job.
	// +optional
	ConversionSizeJobName string `json:"conversionSizeJobName,omitempty"`

	// Generation of the spec of this size.
	// +optional
	ConversionSizeGeneration int64 `json:"conversionSizeGeneration,omitempty"`

	// Last handled value of the annotation koldun.gorizond.io/force-size-rerun.
	// +optional
	ConversionSizeForceToken string `json:"conversionSizeForceToken,omitempty"`

	// PersistentVolumeClaim with the converted files, if any.
	// +optional
	OutputPVCName string `json:"outputPVCName,omitempty"`
}

// An Artifact describes the converted files of a model.
type Artifact struct {
	// Folder of the files in the object store, s3://BUCKET/PREFIX. Empty if they are in a volume only.
	// +optional
	URL string `json:"url,omitempty"`

	// Bucket of the folder.
	// +optional
	Bucket string `json:"bucket,omitempty"`

	// Connection to the object store. Without it, the default one.
	// +optional
	ProviderConfigRef *ProviderConfigReference `json:"providerConfigRef,omitempty"`

	// Whether the connection gives out temporary credentials. Each claim that reads the files has its own then.
	// +optional
	TemporaryCredentials bool `json:"temporaryCredentials,omitempty"`

	// TCP ports that clients of the object store need.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=128
	Ports []int32 `json:"ports,omitempty"`

	// File name of the weights. Of files that are not converted it is the .gguf file, or empty.
	ModelFile string `json:"modelFile"`

	// File name of the tokenizer. Empty for files that are not converted.
	TokenizerFile string `json:"tokenizerFile"`

	// Type of the matrix weights. Empty for files that are not converted.
	Weights string `json:"weights"`

	// Size of all files in bytes.
	SizeBytes int64 `json:"sizeBytes"`

	// Human-readable size of all files.
	Size string `json:"size"`

	// SHA-256 of the manifest.
	// +optional
	ManifestSHA256 string `json:"manifestSHA256,omitempty"`

	// Header of the model, which preflight and the memory plan use.
	// +optional
	Shape *managed.ModelShape `json:"shape,omitempty"`
}

// ModelList is a list of Models.
//
// +kubebuilder:object:root=true
type ModelList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Model `json:"items"`
}
