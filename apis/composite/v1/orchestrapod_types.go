package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// OrchestraPod describes the pods of the gateway or of an application, and the way to them.
type OrchestraPod struct {
	// Image of the pods.
	// +optional
	Image OrchestraImage `json:"image,omitempty"`

	// Environment of the pods. Defaults of Koldun with the same name give way: readers have TAKEOFF_HEADLESS with the value true. With backend
	// Koldun that of an application is for roots, workers, Jobs and a dispatcher of its own, and that of the gateway for gateway and
	// dispatcher; values then come from the claim, a Secret or a ConfigMap.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`

	// Secrets and ConfigMaps whose keys become variables of the same pods. Variables in env override them, and so do those that Koldun sets.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	EnvFrom []EnvFromSource `json:"envFrom,omitempty"`

	// Pods. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	ReplicaCount *int32 `json:"replicaCount,omitempty"`

	// Annotations of the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`

	// Labels of the pods. Those that select the pods cannot be changed.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	PodLabels map[string]string `json:"podLabels,omitempty"`

	// Security context of the pods.
	// +optional
	PodSecurityContext *corev1.PodSecurityContext `json:"podSecurityContext,omitempty"`

	// Security context of the containers. By default they may not escalate their privileges.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`

	// Ports of the pods. Defaults to inference 3000, management 3001, openai 3003 and internal 3005.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	Ports []OrchestraPort `json:"ports,omitempty"`

	// Service in front of the pods. An application has one only if this is given.
	// +optional
	Service *OrchestraService `json:"service,omitempty"`

	// Route from outside of the cluster.
	// +optional
	Ingress OrchestraIngress `json:"ingress,omitempty"`

	// CPU, memory and devices of each pod. Readers on cuda have tensorParallel GPUs, or one, unless a device is named here.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Probe that restarts the container. It replaces that of the template as a whole. Defaults to GET /healthz of port inference;
	// headless readers have none. Without a handler it changes the default.
	// +optional
	LivenessProbe *corev1.Probe `json:"livenessProbe,omitempty"`

	// Probe that decides about requests. It replaces that of the template as a whole. Defaults to GET /healthz of port inference;
	// headless readers have none. Without a handler it changes the default.
	// +optional
	ReadinessProbe *corev1.Probe `json:"readinessProbe,omitempty"`

	// Probe that the other probes wait for. It replaces that of the template as a whole. Defaults to GET /healthz of port inference, for an
	// hour; headless readers have none.
	// +optional
	StartupProbe *corev1.Probe `json:"startupProbe,omitempty"`

	// Further volumes of the pods.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	Volumes []OrchestraVolume `json:"volumes,omitempty"`

	// Where the volumes are mounted. A mount at a path of Koldun's, such as /code/models or /dev/shm, replaces that.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`

	// Required labels of nodes.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Tolerations of the pods.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Affinity of the pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
}

// OrchestraImage names an image.
type OrchestraImage struct {
	// Repository. Defaults to tytn/takeoff-pro.
	// +optional
	// +kubebuilder:validation:MaxLength=384
	Repository string `json:"repository,omitempty"`

	// When the image is pulled.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	PullPolicy corev1.PullPolicy `json:"pullPolicy,omitempty"`

	// Tag. Defaults to 0.22.0-rc17-cpu for the gateway, and 0.22.0-rc17-gpu for applications.
	// +optional
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9_][-.A-Za-z0-9_]*)?$`
	// +kubebuilder:validation:MaxLength=128
	Tag string `json:"tag,omitempty"`
}

// An OrchestraPort is a port of a pod.
type OrchestraPort struct {
	// Name of the port.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=15
	Name string `json:"name"`

	// Number of the port.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	ContainerPort int32 `json:"containerPort"`

	// Protocol of the port. Defaults to TCP.
	// +optional
	// +kubebuilder:validation:Enum=TCP;UDP
	Protocol corev1.Protocol `json:"protocol,omitempty"`
}

// OrchestraService describes a Service.
type OrchestraService struct {
	// Type of the Service. Defaults to ClusterIP.
	// +optional
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	Type corev1.ServiceType `json:"type,omitempty"`

	// Annotations of the Service.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`

	// Ports of the Service. Defaults for the gateway to 80 for port openai, and to management 3001, inference 3000 and internal 3005; for an
	// application to its own ports.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	Ports []OrchestraServicePort `json:"ports,omitempty"`
}

// An OrchestraServicePort is a port of a Service.
type OrchestraServicePort struct {
	// Name of the port.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=15
	Name string `json:"name"`

	// Number of the port.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// Name of the pods' port. Defaults to name, if the pods have a port of that name, else to the same number.
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=15
	TargetPort string `json:"targetPort,omitempty"`

	// Protocol of the port. Defaults to TCP.
	// +optional
	// +kubebuilder:validation:Enum=TCP;UDP
	Protocol corev1.Protocol `json:"protocol,omitempty"`
}

// OrchestraIngress describes the route from outside of the cluster: a networking.k8s.io Ingress, or an HTTPRoute if gateways are given.
//
// +kubebuilder:validation:XValidation:rule="!has(self.enabled) || !self.enabled || has(self.hosts) && size(self.hosts) > 0",message="an Ingress needs at least one host",fieldPath=".hosts",reason=FieldValueRequired
type OrchestraIngress struct {
	// Whether there is a route.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// Ingress class.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClassName string `json:"className,omitempty"`

	// Annotations of the Ingress or HTTPRoute.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`

	// Hosts and their paths.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	Hosts []OrchestraHost `json:"hosts,omitempty"`

	// Secrets with certificates, by host.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	TLS []RouteTLS `json:"tls,omitempty"`

	// Gateways of the Gateway API to attach to. With gateways the route is an HTTPRoute.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	Gateways []GatewayReference `json:"gateways,omitempty"`
}

// OrchestraHost is a host of a route.
type OrchestraHost struct {
	// Host name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Host string `json:"host"`

	// Paths of the host. Defaults to all.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	Paths []OrchestraPath `json:"paths,omitempty"`
}

// OrchestraPath is a path of a host.
type OrchestraPath struct {
	// Path.
	// +kubebuilder:validation:Pattern=`^/.*$`
	// +kubebuilder:validation:MaxLength=1024
	Path string `json:"path"`

	// Match of the path. Defaults to Prefix.
	// +optional
	// +kubebuilder:validation:Enum=Prefix;Exact;ImplementationSpecific
	PathType string `json:"pathType,omitempty"`
}

// OrchestraVolume is a volume with a name.
//
// +kubebuilder:validation:XValidation:rule="[has(self.emptyDir), has(self.hostPath), has(self.configMap), has(self.secret), has(self.persistentVolumeClaim), has(self.nfs)].filter(given, given).size() == 1",message="give exactly one of emptyDir, hostPath, configMap, secret, persistentVolumeClaim and nfs"
type OrchestraVolume struct {
	// Name of the volume.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	OrchestraVolumeSource `json:",inline"`
}

// OrchestraVolumeSource is where a volume comes from.
type OrchestraVolumeSource struct {
	// Empty folder that ends with the pod.
	// +optional
	EmptyDir *corev1.EmptyDirVolumeSource `json:"emptyDir,omitempty"`

	// Folder or file of the node.
	// +optional
	HostPath *corev1.HostPathVolumeSource `json:"hostPath,omitempty"`

	// Keys of a ConfigMap.
	// +optional
	ConfigMap *corev1.ConfigMapVolumeSource `json:"configMap,omitempty"`

	// Keys of a Secret.
	// +optional
	Secret *corev1.SecretVolumeSource `json:"secret,omitempty"`

	// PersistentVolumeClaim of the namespace.
	// +optional
	PersistentVolumeClaim *corev1.PersistentVolumeClaimVolumeSource `json:"persistentVolumeClaim,omitempty"`

	// Folder of an NFS server.
	// +optional
	NFS *corev1.NFSVolumeSource `json:"nfs,omitempty"`
}

// OrchestraModelsVolume is the volume of the models.
//
// +kubebuilder:validation:XValidation:rule="[has(self.emptyDir), has(self.hostPath), has(self.configMap), has(self.secret), has(self.persistentVolumeClaim), has(self.nfs), has(self.claim)].filter(given, given).size() == 1",message="give exactly one of claim, emptyDir, hostPath, configMap, secret, persistentVolumeClaim and nfs"
type OrchestraModelsVolume struct {
	// Name of the volume. Defaults to models.
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// PersistentVolumeClaim that is created for the application, so that a restart does not download again.
	// +optional
	Claim *OrchestraModelsClaim `json:"claim,omitempty"`

	OrchestraVolumeSource `json:",inline"`
}

// OrchestraModelsClaim describes a PersistentVolumeClaim.
type OrchestraModelsClaim struct {
	// Size of the volume.
	Size resource.Quantity `json:"size"`

	// Storage class. Defaults to that of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	StorageClassName *string `json:"storageClassName,omitempty"`

	// Access modes. Several replicas on several nodes need ReadWriteMany. Defaults to ReadWriteOnce.
	// +optional
	// +kubebuilder:validation:MaxItems=4
	// +listType=atomic
	AccessModes []corev1.PersistentVolumeAccessMode `json:"accessModes,omitempty"`
}
