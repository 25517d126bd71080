package main

import (
	"context"
	"fmt"
	"log/slog"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/artifact/objectstore/bootstrap"
)

// S3Cmd prepares an S3 server.
type S3Cmd struct {
	Bootstrap S3BootstrapCmd `cmd:"" help:"Make the credentials of an S3 server as a Secret, once: the Job of package/s3."`
}

// S3BootstrapCmd makes a Secret that does not exist, and changes none. It runs in a pod of
// its namespace.
type S3BootstrapCmd struct {
	Name      string `default:"s3" help:"Name of the server's Service, with which the name of the Secret begins."`
	Namespace string `required:"" env:"POD_NAMESPACE" help:"Namespace of the server and its Secret."`
}

// Run makes the Secret.
func (c *S3BootstrapCmd) Run(ctx context.Context, log *slog.Logger) error {
	api, err := inCluster()
	if err != nil {
		return err
	}
	return c.ensure(ctx, api, log)
}

func (c *S3BootstrapCmd) ensure(ctx context.Context, api client.Client, log *slog.Logger) error {
	made, err := bootstrap.Ensure(ctx, secretStore{api, c.Namespace, "s3", c.Name}, c.Name)
	if err != nil {
		return fmt.Errorf("cannot make the Secret of the S3 server in namespace %q: %w", c.Namespace, err)
	}
	message := "the Secret exists"
	if made {
		message = "made Secret"
	}
	log.Info(message, "namespace", c.Namespace, "name", bootstrap.Secret(c.Name))
	return nil
}
