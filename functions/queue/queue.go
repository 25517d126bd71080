// Package queue composes the durable queue of requests: its streams and
// key-value buckets, and the dispatcher that assigns the requests.
package queue

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// Port of health and metrics.
const (
	PortHealth   = "health"
	HealthNumber = 8083
)

// defaultAttempts is the dispatcher's own default.
const defaultAttempts = 3

// Resource is the name of the composed resource.
const Resource = "queue"

// A Queue is the queue of one owner.
type Queue struct {
	Via       managed.Via
	Namespace string
	// Name of the managed resource.
	Name string
	// Secret gets the connection.
	Secret string
	// Spec is what the claim says of the queue; nil is the default.
	Spec *v1.BackendQueue
	// Responses says how responses are stored; nil is not.
	Responses *v1.StoredResponses
}

// Compose composes the queue. pending says what to wait for.
func (q Queue) Compose(c *compose.Call) (pending managed.Pending, err error) {
	replicas := int32(0)
	if q.Spec != nil {
		replicas = q.Spec.Replicas
	}
	buckets := managed.KeyValues(replicas)
	if q.Responses != nil {
		responses := managed.Responses(ResponsesBytes(*q.Responses))
		responses.Replicas = replicas
		buckets = append(buckets, responses)
	}
	return managed.Await(c, map[string]any{Resource: managed.Queue(q.Via, q.Namespace, q.Name, q.Secret, v1alpha1.QueueParameters{
		Streams:   managed.Streams(q.maxBytes(), replicas),
		KeyValues: buckets,
	})})
}

// ResponsesBytes is the size of all stored responses.
func ResponsesBytes(r v1.StoredResponses) int64 {
	if r.MaxBytes == nil {
		return names.ResponsesMaxBytes
	}
	return max(r.MaxBytes.Value(), 1)
}

// maxBytes is the size of the queue that the claim names, or 0.
func (q Queue) maxBytes() int64 {
	if q.Spec == nil || q.Spec.MaxBytes == nil {
		return 0
	}
	return max(q.Spec.MaxBytes.Value(), 0)
}

// Dispatcher returns the pod of the dispatcher.
func (q Queue) Dispatcher(image string, labels map[string]string, login workload.Login) workload.Pod {
	args := []string{"dispatcher", "--listen=:" + names.PortRef(PortHealth), "--identity=$(POD_NAMESPACE)_$(POD_NAME)"}
	if q.Spec != nil && q.Spec.MaxAttempts > 0 && q.Spec.MaxAttempts != defaultAttempts {
		args = append(args, "--max-attempts="+strconv.Itoa(int(q.Spec.MaxAttempts)))
	}
	return workload.Pod{
		Labels: labels,
		Ports:  map[string]int32{PortHealth: HealthNumber},
		Containers: []workload.Container{{
			Name:      "dispatcher",
			Image:     image,
			Args:      args,
			Secrets:   []string{q.Secret},
			Login:     login,
			ProbePort: PortHealth,
			Memory:    memory.Dispatcher(q.maxBytes()),
			Request:   memory.Usual,
		}},
		GraceSeconds: 30,
	}
}

// ResourcesOf returns the resources that a claim names, or none.
func ResourcesOf(r *corev1.ResourceRequirements) corev1.ResourceRequirements {
	if r == nil {
		return corev1.ResourceRequirements{}
	}
	return *r
}
