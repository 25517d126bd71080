package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/gorizond/koldun/internal/fault"
)

// TestS3Bootstrap runs the command of the Job twice.
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
	if len(all) != 1 || all[0].Name != "s3-credentials" || all[0].ResourceVersion != "1" || all[0].Labels["app.kubernetes.io/name"] != "s3" {
		t.Fatalf("there are the Secrets %v, want one that the second run has not changed", all)
	}
	if !strings.Contains(log.String(), "made Secret") || !strings.Contains(log.String(), "the Secret exists") {
		t.Errorf("the log is %s", log.String())
	}
	for key, value := range all[0].Data {
		if strings.Contains(log.String(), string(value)) {
			t.Errorf("the log holds %s", key)
		}
	}
}

// TestS3BootstrapIsRefused runs it without the rights of its Role.
func TestS3BootstrapIsRefused(t *testing.T) {
	c := bootstrapJob(t, "s3").S3.Bootstrap
	err := c.ensure(t.Context(), forbidding(), slog.New(slog.DiscardHandler))
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), `cannot make Secret "s3-credentials"`) {
		t.Errorf("got %v, want an error of kind Denied with the Secret", err)
	}
}
