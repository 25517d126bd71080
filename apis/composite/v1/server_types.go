package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Server describes an OpenAI-compatible server: one that runs in the root's pod from rootImage, or one at a URL. The sidecar is its only
// client.
//
// +kubebuilder:validation:XValidation:rule="!has(self.url) || !(has(self.command) || has(self.args) || has(self.env) || has(self.port) || has(self.source) || has(self.sharedMemory) || has(self.cache) || has(self.writable) || has(self.runAsUser) || has(self.startupTimeout))",message="command, args, env, port, source, sharedMemory, cache, writable, runAsUser and startupTimeout have no effect on a server outside the pods",fieldPath=".url"
// +kubebuilder:validation:XValidation:rule="has(self.url) || !has(self.apiKeySecretRef)",message="apiKeySecretRef is for a server outside the pods: give url",fieldPath=".apiKeySecretRef"
// +kubebuilder:validation:XValidation:rule="!has(self.source) || self.source != 'download' || has(self.model)",message="source download needs model, the id that the server downloads",fieldPath=".model",reason=FieldValueRequired
type Server struct {
	// Profile of the server: its arguments, defaults and abilities.
	// +optional
	// +kubebuilder:default=generic
	Profile ServerProfile `json:"profile,omitempty"`

	// Base URL of a server outside the pods, with the path before /chat/completions: https://api.example.com/v1. The root's pod then has the
	// sidecar only.
	// +optional
	// +kubebuilder:validation:Pattern=`^https?://[^/?#@$\s]+(/[^?#@$\s]*)?$`
	// +kubebuilder:validation:MaxLength=512
	URL string `json:"url,omitempty"`

	// Secret with the API key of the server at url.
	// +optional
	APIKeySecretRef *SecretKeyReference `json:"apiKeySecretRef,omitempty"`

	// How the server gets the model: files are the source files of the Model, which is not converted; download is the server's own download
	// of model, without a Model. Defaults to files.
	// +optional
	// +kubebuilder:validation:Enum=files;download
	Source string `json:"source,omitempty"`

	// Model to serve. With source download the id that the server downloads; with files a path in them, which defaults to the .gguf file that
	// they have, else to their folder; with url the name by which the server knows it.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][^\s$]*$`
	// +kubebuilder:validation:MaxLength=512
	Model string `json:"model,omitempty"`

	// Name by which the server knows the model. Defaults to NAMESPACE/NAME of the Model, or to the name that the profile's server gives it.
	// +optional
	// +kubebuilder:validation:Pattern=`^[^\s$-][^\s$]*$`
	// +kubebuilder:validation:MaxLength=512
	ServedName string `json:"servedName,omitempty"`

	// Program of the server. Defaults to that of the profile; a generic server runs the image's own.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=1024
	// +listType=atomic
	Command []string `json:"command,omitempty"`

	// Arguments after those of the profile. $(KOLDUN_PORT_ENGINE), $(KOLDUN_DIR_MODEL) and $(KOLDUN_DIR_CACHE) stand for the port and folders.
	// +optional
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=4096
	// +listType=atomic
	Args []string `json:"args,omitempty"`

	// Environment of the server. It overrides that of the profile.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	Env []EnvVar `json:"env,omitempty"`

	// Port of a server whose port cannot be chosen by $(KOLDUN_PORT_ENGINE).
	// +optional
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:validation:XValidation:rule="self != 8081",message="8081 is the port of the sidecar"
	Port int32 `json:"port,omitempty"`

	// Requests that the server computes at once. Defaults to those of the profile. The sidecar gives it no more.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	Slots int32 `json:"slots,omitempty"`

	// Operations that the server has for the model. Defaults to those of the profile.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Pattern=`^[a-z][a-z_]{0,31}$`
	// +listType=set
	Operations []string `json:"operations,omitempty"`

	// Sampling parameters that the server honours, such as top_p and seed. Defaults to those of the profile.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:Pattern=`^[a-z][a-z_]{0,31}$`
	// +listType=set
	Parameters []string `json:"parameters,omitempty"`

	// Abilities of the server with the model: tools, tool_choice (required, or a named tool), json_schema, logprobs, dimensions. Defaults to
	// those of the profile.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Pattern=`^[a-z][a-z_]{0,31}$`
	// +listType=set
	Features []string `json:"features,omitempty"`

	// Size of /dev/shm, which counts as memory of the pod. Defaults to what the profile needs for the number of GPUs.
	// +optional
	SharedMemory *resource.Quantity `json:"sharedMemory,omitempty"`

	// Volume at /cache, the home of the server, with what it downloads and compiles. By default it ends with the pod.
	// +optional
	Cache *ServerCache `json:"cache,omitempty"`

	// Folders of the image that the server writes to, beside /tmp and /cache. They are empty at the start; all others are read-only.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=255
	// +kubebuilder:validation:items:Pattern=`^(/[A-Za-z0-9._-]+)+$`
	// +kubebuilder:validation:XValidation:rule="self.all(p, !(p in ['/tmp', '/cache', '/model', '/dev/shm']) && !p.split('/').exists(part, part in ['.', '..']))",message="/tmp, /cache, /model and /dev/shm are mounted already, and no part is . or .."
	// +listType=set
	Writable []string `json:"writable,omitempty"`

	// User of the server's container, for images that do not run as another one. 0 is root, which restricted namespaces refuse.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// Time to the first token, after which the server is restarted, at least 1m. Defaults to 15 minutes and the time to read the model at
	// 32 MiB a second, or to 2 hours when the server downloads. Profile ollama downloads before the server starts, which has no limit.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m')",message="must be at least 1m"
	StartupTimeout *metav1.Duration `json:"startupTimeout,omitempty"`
}

// ServerCache is the volume with what a server downloads and compiles.
//
// +kubebuilder:validation:XValidation:rule="has(self.claimName) != has(self.sizeLimit)",message="give either claimName or sizeLimit"
type ServerCache struct {
	// PersistentVolumeClaim of the namespace, which outlives the pod. Pods share it, so it needs the access mode ReadWriteMany if several run.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName,omitempty"`

	// Limit of a volume that ends with the pod.
	// +optional
	SizeLimit *resource.Quantity `json:"sizeLimit,omitempty"`
}
