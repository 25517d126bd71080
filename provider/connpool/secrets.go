package connpool

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/requeue"
)

// Secrets reads Secrets from the API server, and again only after a change. It
// watches metadata, not data, so that no other Secret of the cluster is ever held
// in memory.
type Secrets struct {
	metadata client.Reader
	live     client.Reader

	mu   sync.Mutex
	held map[types.NamespacedName]heldSecret
}

// A heldSecret is a Secret in one version.
type heldSecret struct {
	external.Secret
	version string
}

// NewSecrets returns Secrets that reads metadata from a cache and data from the API server.
func NewSecrets(metadata, live client.Reader) *Secrets {
	return &Secrets{metadata: metadata, live: live, held: map[types.NamespacedName]heldSecret{}}
}

// Metadata returns an empty Secret for reads of the metadata only.
func Metadata() *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return m
}

// LabelledKey returns the key of all Secrets of a namespace with the label of API
// tokens.
func LabelledKey(namespace string) requeue.Key {
	return requeue.Key{Kind: "Secrets labelled " + v1.LabelToken, NamespacedName: types.NamespacedName{Namespace: namespace}}
}

// Get reads a Secret. Errors: NotFound; Transient.
func (s *Secrets) Get(ctx context.Context, key types.NamespacedName) (external.Secret, error) {
	m := Metadata()
	if err := s.metadata.Get(ctx, key, m); err != nil {
		s.drop(key)
		return external.Secret{}, secretError(key, err)
	}
	return s.read(ctx, key, m.ResourceVersion)
}

// Labelled reads the Secrets of a namespace with the label of API tokens,
// whatever its value. Errors: Transient.
func (s *Secrets) Labelled(ctx context.Context, namespace string) ([]external.Secret, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := s.metadata.List(ctx, list, client.InNamespace(namespace), client.HasLabels{v1.LabelToken}); err != nil {
		return nil, fault.Errorf(fault.Transient, "cannot list Secrets of namespace %q: %w", namespace, err)
	}
	var out []external.Secret
	for _, m := range list.Items {
		if m.DeletionTimestamp != nil {
			continue // a finalizer keeps it; its token is revoked all the same
		}
		one, err := s.read(ctx, client.ObjectKeyFromObject(&m), m.ResourceVersion)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// read returns the held Secret of that version, or reads it.
func (s *Secrets) read(ctx context.Context, key types.NamespacedName, version string) (external.Secret, error) {
	s.mu.Lock()
	held, ok := s.held[key]
	s.mu.Unlock()
	if ok && held.version == version {
		return held.Secret, nil
	}
	var full corev1.Secret
	if err := s.live.Get(ctx, key, &full); err != nil {
		s.drop(key)
		return external.Secret{}, secretError(key, err)
	}
	one := external.Secret{Name: full.Name, Labels: full.Labels, Annotations: full.Annotations, Data: full.Data}
	s.mu.Lock()
	s.held[key] = heldSecret{one, full.ResourceVersion}
	s.mu.Unlock()
	return one, nil
}

func (s *Secrets) drop(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, key)
}

func secretError(key types.NamespacedName, err error) error {
	if apierrors.IsNotFound(err) {
		return fault.Errorf(fault.NotFound, "Secret %q does not exist in namespace %q: create it (kubectl -n %s create secret generic %s), or correct the reference to it", key.Name, key.Namespace, key.Namespace, key.Name)
	}
	return fault.Errorf(fault.Transient, "cannot read Secret %q of namespace %q: %w", key.Name, key.Namespace, err)
}
