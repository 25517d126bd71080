package main

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/fault"
)

// inCluster returns a client of the API server with the rights of this pod. Errors:
// Unsupported (outside of a pod), Transient.
func inCluster() (client.Client, error) {
	config, err := rest.InClusterConfig()
	if err != nil {
		return nil, fault.Errorf(fault.Unsupported, "cannot reach the API server: %w; this command runs in a pod", err)
	}
	api, err := client.New(config, client.Options{})
	if err != nil {
		return nil, fault.Errorf(fault.Transient, "cannot reach the API server: %w", err)
	}
	return api, nil
}

// A secretStore keeps the Secrets of servers in their namespace.
type secretStore struct {
	api       client.Client
	namespace string
	kind      string // of the servers: nats or s3
	instance  string
}

// Get reads a Secret.
func (s secretStore) Get(ctx context.Context, name string) (map[string][]byte, error) {
	var out corev1.Secret
	err := s.api.Get(ctx, types.NamespacedName{Namespace: s.namespace, Name: name}, &out)
	if err != nil {
		return nil, fault.Errorf(kindOfAPI(err), "cannot read Secret %q: %w", name, err)
	}
	return out.Data, nil
}

// Create stores a new Secret.
func (s secretStore) Create(ctx context.Context, name string, data map[string][]byte) error {
	err := s.api.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.namespace, Name: name,
			Labels: map[string]string{"app.kubernetes.io/name": s.kind, "app.kubernetes.io/instance": s.instance, "app.kubernetes.io/part-of": "koldun"},
		},
		Data: data,
	})
	if err != nil {
		return fault.Errorf(kindOfAPI(err), "cannot make Secret %q: %w", name, err)
	}
	return nil
}

// Set changes one key of a Secret.
func (s secretStore) Set(ctx context.Context, name, key string, value []byte) error {
	patch, err := json.Marshal(map[string]any{"data": map[string][]byte{key: value}})
	if err != nil {
		return fault.As(fault.Internal, err)
	}
	o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	if err := s.api.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fault.Errorf(kindOfAPI(err), "cannot change Secret %q: %w", name, err)
	}
	return nil
}

// kindOfAPI returns the kind of an error of the API server.
func kindOfAPI(err error) fault.Kind {
	switch {
	case apierrors.IsNotFound(err):
		return fault.NotFound
	case apierrors.IsAlreadyExists(err):
		return fault.Conflict
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return fault.Denied
	case apierrors.IsInvalid(err):
		return fault.Invalid
	}
	return fault.Transient
}
