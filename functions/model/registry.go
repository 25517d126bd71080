package model

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/internal/names"
)

// registry composes the key-value bucket that lists models, and what the Job needs that
// reads the headers of files in a volume. A Model that is listed goes on when that is
// not ready.
func (p *volumePlan) registry(via managed.Via) (keys credentials, next compose.Next, err error) {
	secret, buckets := "", registryBuckets(p.m)
	if converts(p.m.Spec) {
		secret, buckets = busSecret(p.m), append(buckets, managed.Lasting(names.ProgressBucket))
	}
	pending, err := managed.Await(p.Call, map[string]any{resQueue: p.queue(via, secret, buckets)})
	if err == nil && converts(p.m.Spec) {
		keys, err = p.logIn(via, connection.Job(resInspect, p.inspectionKey()))
	}
	if err != nil || !pending.Any() || p.Exists(resRecord) {
		return keys, compose.Continue, err
	}
	p.FailIf(pending.Reason, pending.Message)
	return keys, compose.Stop, nil
}

func (p *plan) queue(via managed.Via, secret string, buckets []v1alpha1.KeyValueParameters) *v1alpha1.Queue {
	return managed.Queue(via, p.m.Namespace, names.Object(p.m.Name, "model", "queue"), secret, v1alpha1.QueueParameters{KeyValues: buckets})
}

// registryBuckets are those that list models, and the tokens of other namespaces.
func registryBuckets(m v1.Model) []v1alpha1.KeyValueParameters {
	out := []v1alpha1.KeyValueParameters{managed.Lasting(names.ModelsBucket)}
	if len(m.Spec.AllowedNamespaces) > 0 {
		out = append(out, managed.Lasting(names.TokensBucket))
	}
	return out
}
