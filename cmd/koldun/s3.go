package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/artifact/objectstore/bootstrap"
	"github.com/gorizond/koldun/internal/local/embedded/s3"
)

// S3Cmd is the object store of a cluster.
type S3Cmd struct {
	Bootstrap S3BootstrapCmd `cmd:"" help:"Make the credentials and the certificate of an S3 server as Secrets, once: the Job of package/s3."`
	Serve     S3ServeCmd     `cmd:"" help:"Serve a folder by the S3 API: the server of package/s3."`
}

// S3BootstrapCmd makes Secrets that do not exist. It runs in a pod of their namespace.
type S3BootstrapCmd struct {
	Name      string `default:"s3" help:"Name of the server's Service, with which the names of the Secrets begin."`
	Namespace string `required:"" env:"POD_NAMESPACE" help:"Namespace of the server and its Secrets."`
	Domain    string `default:"cluster.local" help:"Domain of the cluster."`
}

// Run makes the Secrets.
func (c *S3BootstrapCmd) Run(ctx context.Context, log *slog.Logger) error {
	api, err := inCluster()
	if err != nil {
		return err
	}
	return c.ensure(ctx, api, log)
}

func (c *S3BootstrapCmd) ensure(ctx context.Context, api client.Client, log *slog.Logger) error {
	made, err := bootstrap.Ensure(ctx, secretStore{api, c.Namespace, "s3", c.Name}, bootstrap.Plan{Name: c.Name, Namespace: c.Namespace, Domain: c.Domain})
	for _, name := range made {
		log.Info("made Secret", "namespace", c.Namespace, "name", name)
	}
	if err != nil {
		return fmt.Errorf("cannot make the Secrets of the S3 server in namespace %q: %w", c.Namespace, err)
	}
	if len(made) == 0 {
		log.Info("all Secrets exist", "namespace", c.Namespace)
	}
	return nil
}

// S3ServeCmd serves buckets, which are folders.
type S3ServeCmd struct {
	Data      string        `required:"" help:"Folder with the folders data, of buckets, and meta, if the file system has no extended attributes or it exists."`
	Listen    string        `default:":7070" help:"Address to listen on: [HOST]:PORT."`
	Cert      string        `required:"" help:"PEM file of the certificate."`
	Key       string        `required:"" help:"PEM file of its key."`
	Reread    time.Duration `default:"1m" help:"How often both files are compared with those in use."`
	AccessKey string        `required:"" hidden:"" env:"AWS_ACCESS_KEY_ID"`
	SecretKey string        `required:"" hidden:"" env:"AWS_SECRET_ACCESS_KEY"`
}

// Run serves until ctx ends.
func (c *S3ServeCmd) Run(ctx context.Context, log *slog.Logger) error {
	return s3.Serve(ctx, s3.Config{
		Dir: c.Data, Listen: c.Listen, AccessKey: c.AccessKey, SecretKey: c.SecretKey, Sessions: true, Log: log,
		TLS: s3.TLS{CertFile: c.Cert, KeyFile: c.Key, Reread: c.Reread},
	})
}
