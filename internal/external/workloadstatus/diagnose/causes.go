package diagnose

// Reasons. The functions repeat them in the condition Serving, and functions/reason
// documents them.
const (
	PodRefused          = "PodRefused"
	QuotaExceeded       = "QuotaExceeded"
	PodCreationFailed   = "PodCreationFailed"
	Unschedulable       = "Unschedulable"
	VolumeUnavailable   = "VolumeUnavailable"
	ImageUnavailable    = "ImageUnavailable"
	ImagePullFailed     = "ImagePullFailed"
	ConfigMissing       = "ConfigMissing"
	ProgramMissing      = "ProgramMissing"
	ContainerNotStarted = "ContainerNotStarted"
	ArgumentRefused     = "ArgumentRefused"
	OutOfMemory         = "OutOfMemory"
	NodeOutOfMemory     = "NodeOutOfMemory"
	InputRefused        = "InputRefused"
	CredentialsRefused  = "CredentialsRefused"
	SourceNotFound      = "SourceNotFound"
	StorageFull         = "StorageFull"
	DataCorrupt         = "DataCorrupt"
	StorageConflict     = "StorageConflict"
	PodEvicted          = "PodEvicted"
	CrashLooping        = "CrashLooping"
)

// A Cause is one kind of problem.
type Cause struct {
	Reason string
	// Final says that waiting cannot change it: a user has to fix something.
	Final bool
	// Symptom is what Kubernetes shows, and Mend what to do, for the documentation.
	Symptom, Mend string
}

// Causes returns all kinds of problems, the most causal first: what keeps a pod from
// being created explains more than what ends its containers.
func Causes() []Cause {
	return []Cause{
		{PodRefused, true, "`FailedCreate` or `ReplicaFailure`: Pod Security admission, a webhook or the API server refuses the pod.",
			"Do what the message asks: label the namespace `pod-security.kubernetes.io/enforce`, create the service account or priority class, or change the policy. Only images that need root or writable files are refused by the level `restricted`."},
		{QuotaExceeded, false, "`FailedCreate` or `ReplicaFailure`: a ResourceQuota or LimitRange of the namespace leaves no room.",
			"Raise the quota, or lower the requests of the claim: `kubectl describe resourcequota`."},
		{PodCreationFailed, false, "`FailedCreate` or `ReplicaFailure`: the API server, its store or a webhook fails or does not answer.",
			"Check the API server, and the webhook that the message names: `kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations`."},
		{Unschedulable, false, "`PodScheduled` is False: no node has enough free CPU, memory or GPUs, the labels of `nodeSelector` or `affinity`, or no taint that the pod does not tolerate. " +
			"Of a Dllama whose model is still downloaded, the nodes are compared with what its pods will request.",
			"Lower the requests, add or label nodes, or correct `nodeSelector`, `affinity` and `tolerations` of the claim."},
		{VolumeUnavailable, false, "`FailedMount`, `FailedAttachVolume`, or a PersistentVolumeClaim that is not bound.",
			"Create the Secret, ConfigMap, PersistentVolumeClaim or StorageClass that the message names."},
		{ImageUnavailable, true, "`ErrImagePull`, `ImagePullBackOff`, `InvalidImageName` or `ErrImageNeverPull`: the registry refuses the image, or has none of that name for the node.",
			"Correct the name of the image, or set `imagePullSecrets` of the claim to a Secret with credentials of the registry."},
		{ImagePullFailed, false, "`ErrImagePull` or `ImagePullBackOff`: the node cannot reach the registry, or the registry limits pulls.",
			"Check DNS, proxy and firewall of the nodes, or name an image of a mirror."},
		{ConfigMissing, false, "`CreateContainerConfigError`: a Secret or ConfigMap, or a key of it, does not exist.",
			"Create the Secret or ConfigMap with that key, or correct the reference."},
		{ProgramMissing, true, "The image does not hold the program that the container runs.",
			"Name an image that holds it: the message says which. Without an image, a claim runs Koldun's own engine."},
		{ContainerNotStarted, false, "`CreateContainerError`, `RunContainerError` or `StartError`: the node cannot start the container.",
			"Do what the message asks: an image that runs as root or is built for another processor cannot start."},
		{ArgumentRefused, true, "A program ended and printed that it does not know an argument, or refuses its value.",
			"Correct the arguments of the claim: the message names the one."},
		{OutOfMemory, true, "`OOMKilled` twice, or in a Job that gave up, or `OOM-killed` of a container that does not start: it needs more memory than its limit.",
			"Raise the limit that the message names, or use more nodes or smaller weights."},
		{NodeOutOfMemory, false, "`OOMKilled` of a container without a memory limit: the node has no memory left.",
			"Run the pod on a node with more memory, or request what it needs, so that it has a node with that much free."},
		{InputRefused, true, "A program of Koldun ended with exit status 10: its input is wrong or not supported.", "Correct the field that the message names."},
		{CredentialsRefused, true, "A program of Koldun ended with exit status 11: a server refuses its credentials.", "Correct the Secret that the message names."},
		{SourceNotFound, true, "A program of Koldun ended with exit status 12: a repository, file or bucket does not exist.", "Correct the name in the message."},
		{StorageFull, true, "A program of Koldun ended with exit status 13: the object store or a volume is full.", "Enlarge the volume or the quota of the bucket, or delete models."},
		{DataCorrupt, true, "A program of Koldun ended with exit status 14: bytes do not match their size, digest or format.", "Delete the file that the message names, so that it is downloaded again."},
		{StorageConflict, true, "A program of Koldun ended with exit status 15: other files are in the place of its own.", "Choose another path or bucket."},
		{PodEvicted, false, "The node ended the pod: it lacks memory or disk, the pod used more disk than its limit, or the node goes away.", "Do what the message asks: request what the pod needs, raise the limit, or free the node. Kubernetes creates the pod again."},
		{CrashLooping, false, "`CrashLoopBackOff`: a container ends again and again.", "Read its last words in the message and its log: `kubectl logs --previous`."},
	}
}

// rank returns the position of a reason in the order of causes.
func rank(reason string) int {
	causes := Causes()
	for i, c := range causes {
		if c.Reason == reason {
			return i
		}
	}
	return len(causes)
}
