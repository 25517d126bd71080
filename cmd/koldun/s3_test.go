package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/gorizond/koldun/internal/artifact/objectstore/bootstrap"
	"github.com/gorizond/koldun/internal/fault"
)

// TestS3Bootstrap runs the command of the Job twice. It changes nothing.
func TestS3Bootstrap(t *testing.T) {
	c := bootstrapJob(t, "s3").S3.Bootstrap
	api := fake.NewClientBuilder().Build()
	var log bytes.Buffer
	for range 2 {
		if err := c.ensure(t.Context(), api, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Fatal(err)
		}
	}
	all := secretsOf(t, api)
	if len(all) != 3 {
		t.Fatalf("there are %d Secrets, want 3", len(all))
	}
	for _, made := range all {
		if made.ResourceVersion != "1" || made.Labels["app.kubernetes.io/name"] != "s3" || !strings.Contains(log.String(), "name="+made.Name) {
			t.Errorf("Secret %q has the labels %v, was changed, or is not in the log", made.Name, made.Labels)
		}
		for key, value := range made.Data {
			if key != bootstrap.Sessions && strings.Contains(log.String(), string(value)) {
				t.Errorf("the log holds %s", key)
			}
		}
	}
	if !strings.Contains(log.String(), "all Secrets exist") {
		t.Errorf("the log is %s", log.String())
	}
}

// TestS3BootstrapOfBefore has the Secret of a version whose server spoke plain HTTP.
func TestS3BootstrapOfBefore(t *testing.T) {
	c := bootstrapJob(t, "s3").S3.Bootstrap
	old := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "platform", Name: "s3-credentials"},
		Data:       map[string][]byte{bootstrap.AccessKey: []byte("kept"), bootstrap.SecretKey: []byte("kept, too")},
	}
	api := fake.NewClientBuilder().WithObjects(old).Build()
	if err := c.ensure(t.Context(), api, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(old), old); err != nil {
		t.Fatal(err)
	}
	if d := old.Data; string(d[bootstrap.AccessKey]) != "kept" || string(d[bootstrap.SecretKey]) != "kept, too" || len(d["ca.crt"]) == 0 || string(d[bootstrap.Sessions]) != bootstrap.Signed {
		t.Errorf("the Secret has %d keys, and its keys do not stay or it does not describe the server", len(d))
	}
}

// TestS3BootstrapIsRefused runs it without the rights of its Role.
func TestS3BootstrapIsRefused(t *testing.T) {
	c := bootstrapJob(t, "s3").S3.Bootstrap
	err := c.ensure(t.Context(), forbidding(), slog.New(slog.DiscardHandler))
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), `cannot make Secret "s3-ca"`) {
		t.Errorf("got %v, want an error of kind Denied with the Secret", err)
	}
}
