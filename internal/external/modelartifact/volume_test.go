package modelartifact_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/model/topology"
)

// TestVolume observes files that only a Job can read, by its report.
func TestVolume(t *testing.T) {
	shape := &topology.Shape{Arch: topology.Llama, Weights: topology.F32}
	reports := func(_ context.Context, key string) (progress.Report, error) {
		switch key {
		case "done":
			return progress.Report{Phase: progress.Done, Bytes: 7, Total: 7, Shape: shape}, nil
		case "failed":
			return progress.Report{Phase: progress.Failed, Message: "no such file"}, nil
		case "broken":
			return progress.Report{}, fault.Errorf(fault.Transient, "no route")
		}
		return progress.Report{}, fault.Errorf(fault.NotFound, "no report")
	}
	client := modelartifact.New(func(context.Context, string) (objectstore.Store, error) {
		t.Error("a store is opened")
		return nil, fault.Errorf(fault.Invalid, "none")
	}, reports, nil)
	for key, c := range map[string]struct {
		ready bool
		says  string
	}{
		"done":   {true, ""},
		"failed": {false, "no such file"},
		"none":   {false, "no Job has inspected the files yet"},
	} {
		spec := modelartifact.Spec{URL: "pvc://claim/a.m", ProgressKey: key, Verify: "again"}
		o, err := client.Observe(t.Context(), spec)
		if err != nil || !o.Exists || o.Ready != c.ready || o.Message != c.says || o.Status.Whole != c.ready {
			t.Errorf("%s: %+v, %v", key, o, err)
		}
		if c.ready && (o.Status.Shape != shape || o.Status.SizeBytes != 7 || o.Status.Weights != "f32" || o.Status.Verified != "again") {
			t.Errorf("%s: %+v", key, o.Status)
		}
		if err := client.Delete(t.Context(), spec); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := client.Observe(t.Context(), modelartifact.Spec{URL: "pvc://claim/a.m", ProgressKey: "broken"}); err == nil || !strings.Contains(err.Error(), "no route") {
		t.Errorf("a report that cannot be read: %v", err)
	}
}
