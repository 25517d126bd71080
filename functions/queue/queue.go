// Package queue builds what requests live in: the streams and buckets, and the
// dispatcher that leads them.
package queue

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/outside"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// PortHealth names the port of health and metrics.
const PortHealth = "health"

const (
	defaultMaxBytes = 1 << 30 // 1 GiB
	defaultAttempts = 3
)

// A Queue is the queue of one owner.
type Queue struct {
	Via       outside.Via
	Namespace string
	// Name is the name of the owner's component.
	Name func(component string) string
	// Kind of the owner, part of names.
	Kind string
	// Secret gets the connection.
	Secret string
	// Streams is appended to the names of streams, to tell those of one kind
	// of owner from those of another.
	Streams string
	// Spec is what people say of it; nil is the default.
	Spec *v1.BackendQueue
}

// Parts are the managed resources of the queue, in an order.
func (q Queue) Parts() (order []string, desired map[string]any) {
	kv := func(component, bucket, secret string, expire bool) any {
		markers := outside.Markers
		if !expire {
			markers = 0
		}
		return outside.KeyValue(q.Via, q.Namespace, q.Name(q.Kind+"-"+component), bucket, secret, markers)
	}
	maxBytes, replicas := int64(defaultMaxBytes), int32(1)
	if q.Spec != nil {
		replicas = max(q.Spec.Replicas, 1)
		if b := q.Spec.MaxBytes; b != nil && b.Value() > 0 {
			maxBytes = b.Value()
		}
	}
	return []string{"requests", "outcomes", "models", "tokens", "demand", "runners", "leases"}, map[string]any{
		"requests": outside.Requests(q.Via, q.Namespace, q.Name("requests"+q.Streams), maxBytes, replicas),
		"outcomes": outside.Outcomes(q.Via, q.Namespace, q.Name("outcomes"+q.Streams), replicas),
		"models":   kv("models", names.ModelsBucket, q.Secret, false),
		"tokens":   kv("tokens", names.TokensBucket, "", false),
		"demand":   kv("demand", names.DemandBucket, "", true),
		"runners":  kv("runners", names.RunnersBucket, "", true),
		"leases":   kv("leases", names.LeasesBucket, "", true),
	}
}

// Dispatcher is the pod that leads the queue.
func (q Queue) Dispatcher(image string, labels map[string]string) workload.Pod {
	args := []string{"dispatcher", "--listen=:$(" + names.PortEnv(PortHealth) + ")", "--identity=$(POD_NAMESPACE)_$(POD_NAME)"}
	if q.Spec != nil && q.Spec.MaxAttempts > 0 && q.Spec.MaxAttempts != defaultAttempts {
		args = append(args, "--max-attempts="+strconv.Itoa(int(q.Spec.MaxAttempts)))
	}
	return workload.Pod{
		Labels: labels,
		Ports:  map[string]int32{PortHealth: 8083},
		Containers: []workload.Container{{
			Name:      "dispatcher",
			Image:     image,
			Args:      args,
			Secrets:   []string{q.Secret},
			ProbePort: PortHealth,
		}},
		GraceSeconds: 30,
	}
}

// ResourcesOf are what people say, or none.
func ResourcesOf(r *corev1.ResourceRequirements) corev1.ResourceRequirements {
	if r == nil {
		return corev1.ResourceRequirements{}
	}
	return *r
}
