package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
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

// bootstrapCmd parses the arguments of the Job in package/nats.
func bootstrapCmd(t *testing.T) *NATSBootstrapCmd {
	t.Helper()
	raw, err := os.ReadFile("../../package/nats/bootstrap.yaml")
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
	var cli CLI
	parser, err := kong.New(&cli, kong.Vars{"image": "i"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(job.Spec.Template.Spec.Containers[0].Args); err != nil {
		t.Fatal(err)
	}
	return &cli.NATS.Bootstrap
}

// TestNATSBootstrap runs the command of the Job twice.
func TestNATSBootstrap(t *testing.T) {
	c := bootstrapCmd(t)
	api := fake.NewClientBuilder().Build()
	list := func() *corev1.SecretList {
		var out corev1.SecretList
		if err := api.List(t.Context(), &out, client.InNamespace("platform")); err != nil {
			t.Fatal(err)
		}
		return &out
	}
	var log bytes.Buffer
	for range 2 {
		before := list()
		if err := c.ensure(t.Context(), api, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Fatal(err)
		}
		after := list()
		if len(after.Items) != 6 {
			t.Errorf("there are %d Secrets, want 6", len(after.Items))
		}
		for i, s := range before.Items {
			if s.ResourceVersion != after.Items[i].ResourceVersion {
				t.Errorf("Secret %q was changed", s.Name)
			}
		}
	}
	for _, s := range list().Items {
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
	c := bootstrapCmd(t)
	api := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, o.GetName(), nil)
		},
	}).Build()
	err := c.ensure(t.Context(), api, slog.New(slog.DiscardHandler))
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), `cannot make Secret "nats-keys"`) {
		t.Errorf("got %v, want an error of kind Denied with the Secret", err)
	}
}
