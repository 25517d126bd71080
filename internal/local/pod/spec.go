// Package pod runs the containers of a pod template as child processes.
//
// It supports what Koldun's pods use: containers that run Koldun's binary or, if
// allowed, another program of this machine; environment, named ports, HTTP
// probes, and volumes as folders. It runs no hooks: a server that stops breaks off its
// answers, because it does not wait for its sidecar. [Resolve] converts a
// Spec to a Plan without effects; a [Machine] runs the plan.
package pod

import (
	"encoding/json"
	"time"
)

// A Spec is the part of a pod's spec that matters on one machine.
type Spec struct {
	InitContainers                []Container `json:"initContainers"`
	Containers                    []Container `json:"containers"`
	Volumes                       []Volume    `json:"volumes"`
	TerminationGracePeriodSeconds *int64      `json:"terminationGracePeriodSeconds"`
}

// A Container is one process.
type Container struct {
	Name           string          `json:"name"`
	Image          string          `json:"image"`
	Command        []string        `json:"command"`
	Args           []string        `json:"args"`
	Env            []EnvVar        `json:"env"`
	EnvFrom        []EnvFromSource `json:"envFrom"`
	Ports          []ContainerPort `json:"ports"`
	VolumeMounts   []VolumeMount   `json:"volumeMounts"`
	StartupProbe   *Probe          `json:"startupProbe"`
	ReadinessProbe *Probe          `json:"readinessProbe"`
	LivenessProbe  *Probe          `json:"livenessProbe"`
	Resources      Resources       `json:"resources"`
}

// Resources are what a container may take.
type Resources struct {
	// Limits are quantities, as text or as numbers.
	Limits map[string]any `json:"limits"`
}

// An EnvVar is one variable.
type EnvVar struct {
	Name      string     `json:"name"`
	Value     string     `json:"value"`
	ValueFrom *ValueFrom `json:"valueFrom"`
}

// A ValueFrom is the source of a variable's value.
type ValueFrom struct {
	SecretKeyRef    *KeyRef   `json:"secretKeyRef"`
	ConfigMapKeyRef *KeyRef   `json:"configMapKeyRef"`
	FieldRef        *FieldRef `json:"fieldRef"`
	// ResourceFieldRef is a limit. Processes have none here, so the variable is
	// not set.
	ResourceFieldRef *struct{} `json:"resourceFieldRef"`
}

// A KeyRef is one key of a Secret or ConfigMap.
type KeyRef struct {
	Name     string `json:"name"`
	Key      string `json:"key"`
	Optional bool   `json:"optional"`
}

// A FieldRef is a field of the pod.
type FieldRef struct {
	FieldPath string `json:"fieldPath"`
}

// An EnvFromSource defines a variable for every key.
type EnvFromSource struct {
	Prefix       string     `json:"prefix"`
	SecretRef    *ObjectRef `json:"secretRef"`
	ConfigMapRef *ObjectRef `json:"configMapRef"`
}

// An ObjectRef names a Secret or ConfigMap.
type ObjectRef struct {
	Name     string `json:"name"`
	Optional bool   `json:"optional"`
}

// A ContainerPort is a port that the container listens on.
type ContainerPort struct {
	Name          string `json:"name"`
	ContainerPort int    `json:"containerPort"`
}

// A VolumeMount mounts a volume. The mount path does not matter here: containers
// find the folder by names.DirEnv.
type VolumeMount struct {
	Name    string `json:"name"`
	SubPath string `json:"subPath"`
}

// A Volume is a folder.
type Volume struct {
	Name                  string           `json:"name"`
	EmptyDir              *struct{}        `json:"emptyDir"`
	Secret                *SecretVolume    `json:"secret"`
	ConfigMap             *ConfigMapVolume `json:"configMap"`
	PersistentVolumeClaim *ClaimVolume     `json:"persistentVolumeClaim"`
}

// A SecretVolume has a file for every key of a Secret, or for its items.
type SecretVolume struct {
	SecretName string      `json:"secretName"`
	Items      []KeyToPath `json:"items"`
	Optional   bool        `json:"optional"`
}

// A ConfigMapVolume has a file for every key of a ConfigMap, or for its items.
type ConfigMapVolume struct {
	Name     string      `json:"name"`
	Items    []KeyToPath `json:"items"`
	Optional bool        `json:"optional"`
}

// A KeyToPath is a key and its file.
type KeyToPath struct {
	Key  string `json:"key"`
	Path string `json:"path"`
}

// A ClaimVolume is a folder that outlives the pod.
type ClaimVolume struct {
	ClaimName string `json:"claimName"`
}

// A Probe checks the health of a container.
type Probe struct {
	HTTPGet             *HTTPGet `json:"httpGet"`
	InitialDelaySeconds int      `json:"initialDelaySeconds"`
	PeriodSeconds       int      `json:"periodSeconds"`
	TimeoutSeconds      int      `json:"timeoutSeconds"`
	FailureThreshold    int      `json:"failureThreshold"`
}

// An HTTPGet is healthy when the status is 200 to 399.
type HTTPGet struct {
	Path string     `json:"path"`
	Port NameOrPort `json:"port"`
}

// A NameOrPort is a port by name or number.
type NameOrPort struct {
	Name   string
	Number int
}

// UnmarshalJSON reads a string or a number.
func (p *NameOrPort) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, &p.Name)
	}
	return json.Unmarshal(raw, &p.Number)
}

// The defaults of Kubernetes.

func (p *Probe) period() time.Duration  { return seconds(p.PeriodSeconds, 10) }
func (p *Probe) timeout() time.Duration { return seconds(p.TimeoutSeconds, 1) }

func (p *Probe) threshold() int {
	if p.FailureThreshold <= 0 {
		return 3
	}
	return p.FailureThreshold
}

func seconds(n, otherwise int) time.Duration {
	if n <= 0 {
		n = otherwise
	}
	return time.Duration(n) * time.Second
}
