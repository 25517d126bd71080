package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A ModelDownload keeps models of a hub in folders of an existing PersistentVolumeClaim, as plain files: one Job downloads each model, at a
// pinned commit, and verifies it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=mdd,categories=koldun
// +kubebuilder:printcolumn:name="Models",type=string,JSONPath=`.status.summary`
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="ETA",type=string,JSONPath=`.status.eta`
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=`.status.failedCount`
// +kubebuilder:printcolumn:name="Volume",type=string,JSONPath=`.spec.storagePVC`
// +kubebuilder:printcolumn:name="Completed",type=string,JSONPath=`.status.completed`,priority=1
// +kubebuilder:printcolumn:name="Pending",type=string,JSONPath=`.status.pending`,priority=1
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type ModelDownload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ModelDownloadSpec   `json:"spec"`
	Status ModelDownloadStatus `json:"status,omitempty"`
}

// ModelDownloadSpec describes a ModelDownload.
//
// +kubebuilder:validation:XValidation:rule="!has(self.onTokenChange) || has(self.hfTokenRef)",message="onTokenChange needs hfTokenRef, the Secret with the token",fieldPath=".onTokenChange"
type ModelDownloadSpec struct {
	// Models to download, each in a folder of its own.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Models []DownloadModel `json:"models"`

	// PersistentVolumeClaim of the namespace that receives the files. Jobs mount it at /models.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	StoragePVC string `json:"storagePVC"`

	// Key of a Secret with the hub's token, for gated and private repositories. Jobs get it by reference.
	// +optional
	HFTokenRef *SecretKeyReference `json:"hfTokenRef,omitempty"`

	// What a new token in hfTokenRef causes: RetryUnfinished starts the models anew that are not complete, Redownload all models. Defaults to
	// RetryUnfinished.
	// +optional
	// +kubebuilder:validation:Enum=RetryUnfinished;Redownload
	OnTokenChange string `json:"onTokenChange,omitempty"`

	// Every change to another value downloads all models again, and resolves branches and tags again. The value of a new object, or the removal of
	// the value, does not.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ReloadToken string `json:"reloadToken,omitempty"`

	// Hub to download from: http[s]://HOST[:PORT]. Defaults to https://huggingface.co.
	// +optional
	// +kubebuilder:validation:Pattern=`^https?://[^/?#@ ]+/?$`
	// +kubebuilder:validation:MaxLength=256
	Endpoint string `json:"endpoint,omitempty"`

	// Karpenter node pool of the Jobs: their pods run on nodes with the label karpenter.sh/nodepool of this value.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	NodePool string `json:"nodePool,omitempty"`

	// Settings of the Jobs.
	// +optional
	Settings *DownloadSettings `json:"settings,omitempty"`

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

	// ProviderConfig or ClusterProviderConfig of the hub. Defaults to the default connection.
	// +optional
	ProviderConfigRef *ProviderConfigReference `json:"providerConfigRef,omitempty"`
}

// A DownloadModel is one model to download.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.sha) && has(self.revision))",message="give either sha or revision, not both",fieldPath=".sha"
type DownloadModel struct {
	// Repository of the hub: ORG/REPO.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=193
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._-]{0,95}(/[A-Za-z0-9][A-Za-z0-9._-]{0,95})?$`
	Name string `json:"name"`

	// Commit to download.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._/-]*$`
	SHA string `json:"sha,omitempty"`

	// Branch, tag or commit to download. It is resolved once to a commit. Defaults to main.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._/-]*$`
	Revision string `json:"revision,omitempty"`

	// How often the Job tries again after a failure that may pass. Defaults to 10. A refusal of the hub or a full volume ends it at once.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	RetryCount *int32 `json:"retryCount,omitempty"`

	// Glob patterns of the files to download. Defaults to all files.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Include []string `json:"include,omitempty"`

	// Glob patterns of files to exclude.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Exclude []string `json:"exclude,omitempty"`

	// Folder of the files below /models. Defaults to the name.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`
	SubPath string `json:"subPath,omitempty"`
}

// DownloadSettings are the settings of all Jobs of a ModelDownload.
type DownloadSettings struct {
	// Time in milliseconds after which a Job stops, retries included. It is rounded up to seconds. 0 is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TimeoutMillis int64 `json:"timeoutMillis,omitempty"`

	// Whether more connections download in parallel: 32 instead of 8, or as many as the memory allows.
	// +optional
	EnableHFTransfer bool `json:"enableHFTransfer,omitempty"`

	// Time in seconds for which a successful Job and the logs of its pod are kept. Defaults to 3600. A failed Job stays until it is deleted: the
	// model then starts again.
	// +optional
	// +kubebuilder:validation:Minimum=0
	KeepAliveSeconds int32 `json:"keepAliveSeconds,omitempty"`

	// CPU of a Job, request and limit.
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`

	// Memory of a Job, request and limit. It needs, and has by default, 64 MiB plus 16 MiB for each connection.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`

	// Downloads all models again each time it changes from false to true. It also resolves branches and tags again.
	// +optional
	ForceReload bool `json:"forceReload,omitempty"`

	// Maximum number of Jobs at the same time. 0 is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MaxParallel int32 `json:"maxParallel,omitempty"`
}

// ModelDownloadStatus is the status of a ModelDownload.
type ModelDownloadStatus struct {
	Status `json:",inline"`

	// State of each model of the spec.
	// +optional
	// +listType=map
	// +listMapKey=name
	Models []DownloadedModel `json:"models,omitempty"`

	// Names of the models that are neither complete nor failed.
	// +optional
	// +listType=atomic
	Pending []string `json:"pending,omitempty"`

	// Names of the models that are complete.
	// +optional
	// +listType=atomic
	Completed []string `json:"completed,omitempty"`

	// Names of the models whose download gave up.
	// +optional
	// +listType=atomic
	Failed []string `json:"failed,omitempty"`

	// Number of models whose download gave up.
	// +optional
	FailedCount int32 `json:"failedCount,omitempty"`

	// Complete models of all models: "2/3".
	// +optional
	Summary string `json:"summary,omitempty"`

	// Downloaded bytes of those of all models, in percent: "42%". Empty until all sizes are known.
	// +optional
	Progress string `json:"progress,omitempty"`

	// Estimated time until all models are complete: "12m". Empty while it is not known, or a model waits.
	// +optional
	ETA string `json:"eta,omitempty"`

	// Handled requests to download again.
	// +optional
	Reload *ReloadStatus `json:"reload,omitempty"`
}

// ReloadStatus counts requests to download all models again.
type ReloadStatus struct {
	// Requests by settings.forceReload, reloadToken or a new token.
	// +optional
	Count int64 `json:"count,omitempty"`

	// Last handled value of settings.forceReload.
	// +optional
	Forced bool `json:"forced,omitempty"`

	// Last handled value of reloadToken.
	// +optional
	LastReloadToken string `json:"lastReloadToken,omitempty"`

	// Digest of the last token of hfTokenRef that was found.
	// +optional
	LastTokenDigest string `json:"lastTokenDigest,omitempty"`
}

// Phases of a DownloadedModel.
const (
	// DownloadPending: the Job has not started.
	DownloadPending = "Pending"
	// DownloadRunning: the Job runs.
	DownloadRunning = "Running"
	// DownloadCompleted: all files are in the folder and verified.
	DownloadCompleted = "Completed"
	// DownloadFailed: the Job gave up, or the hub refuses the revision.
	DownloadFailed = "Failed"
)

// A DownloadedModel is the state of one model of a ModelDownload.
type DownloadedModel struct {
	// Repository of the hub.
	Name string `json:"name"`

	// Phase: Pending, Running, Completed or Failed.
	// +optional
	Phase string `json:"phase,omitempty"`

	// Why the model has this phase, from the list of reasons.
	// +optional
	Reason string `json:"reason,omitempty"`

	// What the reason is about, and how to fix it.
	// +optional
	Message string `json:"message,omitempty"`

	// Commit that is or will be in the folder.
	// +optional
	Commit string `json:"commit,omitempty"`

	// Folder on the volume.
	// +optional
	Path string `json:"path,omitempty"`

	// Number of chosen files.
	// +optional
	Files int32 `json:"files,omitempty"`

	// Size of the chosen files in bytes.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`

	// Downloaded bytes, while the Job runs. It lags behind by up to 30 seconds.
	// +optional
	DoneBytes int64 `json:"doneBytes,omitempty"`

	// Percentage downloaded, while the Job runs.
	// +optional
	Percent int32 `json:"percent,omitempty"`

	// Estimated seconds until the Job ends, at its present rate.
	// +optional
	ETASeconds int64 `json:"etaSeconds,omitempty"`

	// Failed attempts of the Job.
	// +optional
	FailedAttempts int32 `json:"failedAttempts,omitempty"`

	// Job that downloads, or that did.
	// +optional
	JobName string `json:"jobName,omitempty"`

	// Hash of what the spec asks for: repository, revision, patterns, volume, folder and reloads. Another hash causes another download.
	// +optional
	Hash string `json:"hash,omitempty"`

	// Time at which the Job succeeded.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`
}

// ModelDownloadList is a list of ModelDownloads.
//
// +kubebuilder:object:root=true
type ModelDownloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ModelDownload `json:"items"`
}
