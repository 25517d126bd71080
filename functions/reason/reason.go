// Package reason is the catalogue of reasons that Koldun's conditions give.
//
// A reason is stable: people and programs match on it. The condition's message
// and docs/reference/reasons.md say what it is about, and how to fix it.
package reason

// A Reason is a CamelCase word that says why a condition has its status.
type Reason string

// Of several kinds.
const (
	// Available: the object serves its purpose.
	Available Reason = "Available"
	// ConnectionPending: a bucket, stream or key-value bucket is not ready yet.
	ConnectionPending Reason = "ConnectionPending"
	// ConnectionAmbiguous: several Ingresses of the namespace name different NATS servers, and the object names none.
	ConnectionAmbiguous Reason = "ConnectionAmbiguous"
	// ConnectionInvalid: a URL, or a reference to a Secret, cannot be used.
	ConnectionInvalid Reason = "ConnectionInvalid"
	// NamespaceNotAllowed: the namespace may not use the ClusterProviderConfig, or not share its login.
	NamespaceNotAllowed Reason = "NamespaceNotAllowed"
	// NotAllowed: the platform team does not allow the claim an image, argument, command, Secret, template, volume, folder or hub that it names.
	NotAllowed Reason = "NotAllowed"
	// PrerequisiteMissing: the cluster lacks the provider, a kind of another project, a StorageClass, or a right of Crossplane.
	PrerequisiteMissing Reason = "PrerequisiteMissing"
	// PrerequisitesMet: the cluster has what it lacked before.
	PrerequisitesMet Reason = "PrerequisitesMet"
	// FieldsIgnored: fields are given that are accepted and have no effect.
	FieldsIgnored Reason = "FieldsIgnored"
	// FieldsUsed: fields without effect, which were given before, no longer are.
	FieldsUsed Reason = "FieldsUsed"
)

// Of a Model.
const (
	// SourceInvalid: the field spec.sourceUrl, spec.localPath or spec.conversion.outputPath cannot be used.
	SourceInvalid Reason = "SourceInvalid"
	// ResolvingRevision: the hub has not yet resolved the revision to a commit.
	ResolvingRevision Reason = "ResolvingRevision"
	// RevisionUnavailable: the hub refuses the repository or revision.
	RevisionUnavailable Reason = "RevisionUnavailable"
	// ModelUnsupported: the repository's config.json describes a model that cannot be converted.
	ModelUnsupported Reason = "ModelUnsupported"
	// Downloading: the fetch Job runs.
	Downloading Reason = "Downloading"
	// DownloadFailed: the fetch Job gave up.
	DownloadFailed Reason = "DownloadFailed"
	// Downloaded: the source files are complete.
	Downloaded Reason = "Downloaded"
	// DownloadNotNeeded: the converted files are complete, so the source is not needed.
	DownloadNotNeeded Reason = "DownloadNotNeeded"
	// WaitingForDownload: conversion begins when the source files are complete.
	WaitingForDownload Reason = "WaitingForDownload"
	// Converting: the convert Job runs.
	Converting Reason = "Converting"
	// ConversionFailed: the convert Job gave up.
	ConversionFailed Reason = "ConversionFailed"
	// Converted: the converted files are complete.
	Converted Reason = "Converted"
	// ConversionNotWanted: the Model keeps its source files, for engines that load them.
	ConversionNotWanted Reason = "ConversionNotWanted"
	// InputRefused: a Job or container ended because its input is wrong, or of a kind that it cannot handle.
	InputRefused Reason = "InputRefused"
	// CredentialsRefused: a Job or container ended because the hub or the object store refuses its credentials.
	CredentialsRefused Reason = "CredentialsRefused"
	// SourceNotFound: a Job or container ended because a repository, file or bucket does not exist.
	SourceNotFound Reason = "SourceNotFound"
	// StorageFull: a Job or container ended because the object store or a volume is full.
	StorageFull Reason = "StorageFull"
	// DataCorrupt: a Job or container ended because bytes do not match their size, digest or format.
	DataCorrupt Reason = "DataCorrupt"
	// StorageConflict: a Job or container ended because other files are in the place of its own.
	StorageConflict Reason = "StorageConflict"
	// Registering: the registry does not list the model yet.
	Registering Reason = "Registering"
	// PreConverted: the files are in a volume already, so nothing is downloaded or converted.
	PreConverted Reason = "PreConverted"
	// Inspecting: a Job reads the headers of files that are in a volume already.
	Inspecting Reason = "Inspecting"
	// InspectionFailed: the Job that reads the headers of files in a volume gave up.
	InspectionFailed Reason = "InspectionFailed"
	// FillingVolume: a Job copies the converted files into the volume.
	FillingVolume Reason = "FillingVolume"
	// VolumeTooSmall: the volume of spec.pv cannot hold the files.
	VolumeTooSmall Reason = "VolumeTooSmall"
	// VolumeFailed: the Job that copies the converted files into the volume gave up.
	VolumeFailed Reason = "VolumeFailed"
	// Verifying: the stored files are verified again.
	Verifying Reason = "Verifying"
	// SizeKnown: the size of the converted files is known.
	SizeKnown Reason = "SizeKnown"
	// SizeUnknown: the size of the converted files is not known yet.
	SizeUnknown Reason = "SizeUnknown"
)

// Of a ModelDownload.
const (
	// DownloadPending: a Job waits for what it needs, for another Job that writes to the same folder, or for its turn.
	DownloadPending Reason = "DownloadPending"
	// StorageNotFound: the PersistentVolumeClaim of spec.storagePVC does not exist.
	StorageNotFound Reason = "StorageNotFound"
	// TokenNotFound: the Secret of spec.hfTokenRef, or its key, does not exist.
	TokenNotFound Reason = "TokenNotFound"
)

// Of a Dllama, Root, Worker or Session.
const (
	// ModelNotFound: the field spec.modelRef names a Model that does not exist, or one of another namespace that does not allow the use.
	ModelNotFound Reason = "ModelNotFound"
	// GatewayNotFound: the field spec.ingressRef names an Ingress that does not exist.
	GatewayNotFound Reason = "GatewayNotFound"
	// ModelPending: the Model is not ready yet.
	ModelPending Reason = "ModelPending"
	// ModelFailed: the Model cannot become ready.
	ModelFailed Reason = "ModelFailed"
	// TopologyInvalid: the engine cannot run the model so: nodes, files or a setting of the engine do not fit.
	TopologyInvalid Reason = "TopologyInvalid"
	// DeliveryImpossible: the root cannot get the model's files by the requested delivery.
	DeliveryImpossible Reason = "DeliveryImpossible"
	// WorkersStarting: not all workers listen yet.
	WorkersStarting Reason = "WorkersStarting"
	// WorkersNotFound: no Worker has the labels of spec.workerSelector.
	WorkersNotFound Reason = "WorkersNotFound"
	// RootStarting: the root has not generated a token yet. The log of the root says why a server outside the pods generates none: it does not answer, or rejects the API key.
	RootStarting Reason = "RootStarting"
	// RequestTooSmall: a node requests less memory than it allocates, so that it may be scheduled to where it does not fit.
	RequestTooSmall Reason = "RequestTooSmall"
	// RequestSufficient: all nodes request the memory that they allocate.
	RequestSufficient Reason = "RequestSufficient"
	// KeyInvalid: the field spec.key names a pool of another model.
	KeyInvalid Reason = "KeyInvalid"
	// ServesInvalid: the field spec.serves names a Model of another namespace that does not allow the use, or one whose name is taken here.
	ServesInvalid Reason = "ServesInvalid"
	// DllamasStarting: not all Dllamas of the pool are ready.
	DllamasStarting Reason = "DllamasStarting"
	// Idle: the pool is empty and not in demand.
	Idle Reason = "Idle"
)

// Of the pods of any kind.
const (
	// PodRefused: the API server refuses to create a pod, for Pod Security, a webhook, or a service account or priority class that does not exist.
	PodRefused Reason = "PodRefused"
	// QuotaExceeded: a ResourceQuota or LimitRange of the namespace refuses a pod.
	QuotaExceeded Reason = "QuotaExceeded"
	// PodCreationFailed: the API server cannot create a pod at present, because it, its store or a webhook fails.
	PodCreationFailed Reason = "PodCreationFailed"
	// Unschedulable: no node can run a pod.
	Unschedulable Reason = "Unschedulable"
	// VolumeUnavailable: a node cannot mount a volume of a pod, or a PersistentVolumeClaim is not bound.
	VolumeUnavailable Reason = "VolumeUnavailable"
	// ImageUnavailable: a registry refuses an image, or has none of that name for the node.
	ImageUnavailable Reason = "ImageUnavailable"
	// ImagePullFailed: a node cannot pull an image at present.
	ImagePullFailed Reason = "ImagePullFailed"
	// ConfigMissing: a Secret or ConfigMap of a container, or a key of it, does not exist.
	ConfigMissing Reason = "ConfigMissing"
	// ProgramMissing: an image does not hold the program that a container runs.
	ProgramMissing Reason = "ProgramMissing"
	// ContainerNotStarted: a node cannot start a container.
	ContainerNotStarted Reason = "ContainerNotStarted"
	// ArgumentRefused: a program refuses an argument that the claim gives it.
	ArgumentRefused Reason = "ArgumentRefused"
	// OutOfMemory: a container needs more memory than its limit.
	OutOfMemory Reason = "OutOfMemory"
	// NodeOutOfMemory: the node of a container without a memory limit has no memory left.
	NodeOutOfMemory Reason = "NodeOutOfMemory"
	// PodEvicted: a node has ended a pod, because it lacks memory or disk.
	PodEvicted Reason = "PodEvicted"
	// CrashLooping: a container ends again and again.
	CrashLooping Reason = "CrashLooping"
)

// Of an Ingress.
const (
	// GatewayStarting: no gateway or dispatcher is ready yet.
	GatewayStarting Reason = "GatewayStarting"
)

// Of an AutoNodeLabeler.
const (
	// Labelling: the nodes have not been compared with the rule yet.
	Labelling Reason = "Labelling"
	// LabelsConflict: nodes keep values of another owner, or of a rule with at least the same priority.
	LabelsConflict Reason = "LabelsConflict"
	// RuleFailed: the nodes cannot be labelled.
	RuleFailed Reason = "RuleFailed"
)

// Of a ModelOrchestra.
const (
	// ApplicationsStarting: the gateway or an application has no ready replica yet.
	ApplicationsStarting Reason = "ApplicationsStarting"
	// ApplicationInvalid: an application, merged with the template, cannot be served.
	ApplicationInvalid Reason = "ApplicationInvalid"
)

// Of an AIDeployment.
const (
	// ModelMapNotFound: a model refers to an AIModelMap that does not exist, or does not grant the use.
	ModelMapNotFound Reason = "ModelMapNotFound"
	// VariantNotFound: an AIModelMap has no such variant for the engine.
	VariantNotFound Reason = "VariantNotFound"
	// DeploymentInvalid: the engine cannot run what the spec says.
	DeploymentInvalid Reason = "DeploymentInvalid"
	// DeploymentStarting: the Deployment has no ready pod yet.
	DeploymentStarting Reason = "DeploymentStarting"
	// DeploymentFailed: the Deployment cannot create pods, or they did not become ready in time.
	DeploymentFailed Reason = "DeploymentFailed"
)

// Final reports whether waiting cannot change the reason: a user has to fix
// something first.
func Final(r string) bool {
	switch Reason(r) {
	case SourceInvalid, RevisionUnavailable, ModelUnsupported, DownloadFailed, ConversionFailed, InspectionFailed, VolumeFailed, InputRefused,
		CredentialsRefused, SourceNotFound, StorageFull, DataCorrupt, StorageConflict, ModelFailed, TopologyInvalid,
		DeliveryImpossible, ConnectionAmbiguous, ConnectionInvalid, NamespaceNotAllowed, NotAllowed, KeyInvalid, ServesInvalid, ApplicationInvalid, PodRefused, ImageUnavailable,
		ProgramMissing, ArgumentRefused, OutOfMemory, VariantNotFound, DeploymentInvalid, DeploymentFailed:
		return true
	}
	return false
}

// Passed reports whether a reason, with its message, is passed on to the composites
// above: a problem of pods or of the cluster changes rarely, unlike progress.
func Passed(r string) bool {
	switch Reason(r) {
	case PrerequisiteMissing, NamespaceNotAllowed, NotAllowed, PodRefused, QuotaExceeded, PodCreationFailed, Unschedulable, VolumeUnavailable, ImageUnavailable, ImagePullFailed, ConfigMissing, ProgramMissing,
		ContainerNotStarted, ArgumentRefused, OutOfMemory, NodeOutOfMemory, PodEvicted, CrashLooping, InputRefused, CredentialsRefused, SourceNotFound, StorageFull,
		DataCorrupt, StorageConflict:
		return true
	}
	return false
}
