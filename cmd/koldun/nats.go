package main

import (
	"context"
	"fmt"
	"log/slog"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/nats/natsauth/bootstrap"
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
	api, err := inCluster()
	if err != nil {
		return err
	}
	return c.ensure(ctx, api, log)
}

func (c *NATSBootstrapCmd) ensure(ctx context.Context, api client.Client, log *slog.Logger) error {
	made, err := bootstrap.Ensure(ctx, secretStore{api, c.Namespace, "nats", c.Name}, bootstrap.Plan{Name: c.Name, Namespace: c.Namespace, Domain: c.Domain})
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
