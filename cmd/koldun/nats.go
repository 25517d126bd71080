package main

import (
	"context"
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/natsauth/bootstrap"
)

// NATSCmd prepares NATS servers.
type NATSCmd struct {
	Bootstrap NATSBootstrapCmd `cmd:"" help:"Make the operator and certificates of NATS servers as Secrets, once: the Job of package/nats."`
}

// NATSBootstrapCmd makes Secrets that do not exist, and changes none. It runs in a pod of
// their namespace.
type NATSBootstrapCmd struct {
	Name      string `default:"nats" help:"Name of the servers' Service, with which the names of the Secrets begin."`
	Namespace string `required:"" env:"POD_NAMESPACE" help:"Namespace of the servers and their Secrets."`
	Domain    string `default:"cluster.local" help:"Domain of the cluster."`
}

// Run makes the Secrets.
func (c *NATSBootstrapCmd) Run(ctx context.Context, log *slog.Logger) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return fault.Errorf(fault.Unsupported, "cannot reach the API server: %w; this command runs in a pod", err)
	}
	api, err := client.New(config, client.Options{})
	if err != nil {
		return fault.Errorf(fault.Transient, "cannot reach the API server: %w", err)
	}
	return c.ensure(ctx, api, log)
}

func (c *NATSBootstrapCmd) ensure(ctx context.Context, api client.Client, log *slog.Logger) error {
	made, err := bootstrap.Ensure(ctx, secretStore{api, c.Namespace, c.Name}, bootstrap.Plan{Name: c.Name, Namespace: c.Namespace, Domain: c.Domain})
	for _, name := range made {
		log.Info("made Secret", "namespace", c.Namespace, "name", name)
	}
	if err != nil {
		return fmt.Errorf("cannot make the Secrets of NATS in namespace %q: %w", c.Namespace, err)
	}
	if len(made) == 0 {
		log.Info("all Secrets exist", "namespace", c.Namespace)
	}
	return nil
}

// A secretStore keeps the Secrets of NATS servers in their namespace.
type secretStore struct {
	api       client.Client
	namespace string
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
			Labels: map[string]string{"app.kubernetes.io/name": "nats", "app.kubernetes.io/instance": s.instance, "app.kubernetes.io/part-of": "koldun"},
		},
		Data: data,
	})
	if err != nil {
		return fault.Errorf(kindOfAPI(err), "cannot make Secret %q: %w", name, err)
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
