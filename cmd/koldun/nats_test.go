package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/internal/fault"
)

// bootstrapJob parses the arguments of the Job in a folder of manifests.
func bootstrapJob(t *testing.T, folder string) *CLI {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../package", folder, "bootstrap.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(string(raw), "\n---\n")
	text := documents[len(documents)-1]
	var job batchv1.Job
	if err := yaml.UnmarshalStrict([]byte(text), &job); err != nil {
		t.Fatal(err)
	}
	t.Setenv("POD_NAMESPACE", "platform")
	cli := &CLI{}
	parser, err := kong.New(cli, kong.Vars{"image": "i"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(job.Spec.Template.Spec.Containers[0].Args); err != nil {
		t.Fatal(err)
	}
	return cli
}

// secretsOf returns the Secrets of the namespace.
func secretsOf(t *testing.T, api client.Client) []corev1.Secret {
	t.Helper()
	var out corev1.SecretList
	if err := api.List(t.Context(), &out, client.InNamespace("platform")); err != nil {
		t.Fatal(err)
	}
	return out.Items
}

// forbidding is an API server that refuses to make anything.
func forbidding() client.Client {
	return fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, o.GetName(), nil)
		},
	}).Build()
}

// TestNATSBootstrap runs the command of the Job twice.
func TestNATSBootstrap(t *testing.T) {
	c := bootstrapJob(t, "nats").NATS.Bootstrap
	api := fake.NewClientBuilder().Build()
	var log bytes.Buffer
	for range 2 {
		before := secretsOf(t, api)
		if err := c.ensure(t.Context(), api, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Fatal(err)
		}
		after := secretsOf(t, api)
		if len(after) != 6 {
			t.Errorf("there are %d Secrets, want 6", len(after))
		}
		for i, s := range before {
			if s.ResourceVersion != after[i].ResourceVersion {
				t.Errorf("Secret %q was changed", s.Name)
			}
		}
	}
	for _, s := range secretsOf(t, api) {
		if s.Labels["app.kubernetes.io/instance"] != "nats" || !strings.Contains(log.String(), "name="+s.Name) {
			t.Errorf("Secret %q has the labels %v, or is not in the log", s.Name, s.Labels)
		}
		for key, value := range s.Data {
			if strings.HasSuffix(key, ".nk") && strings.Contains(log.String(), string(value)) {
				t.Errorf("the log holds %s of Secret %q", key, s.Name)
			}
		}
	}
}

// TestNATSBootstrapIsRefused runs it without the rights of its Role.
func TestNATSBootstrapIsRefused(t *testing.T) {
	c := bootstrapJob(t, "nats").NATS.Bootstrap
	err := c.ensure(t.Context(), forbidding(), slog.New(slog.DiscardHandler))
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), `cannot make Secret "nats-keys"`) {
		t.Errorf("got %v, want an error of kind Denied with the Secret", err)
	}
}
