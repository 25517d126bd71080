package modeldownload_test

import (
	"strings"
	"testing"
)

const threeOf = meta + "spec: {storagePVC: files, models: [{name: a/one}, {name: a/two}, {name: a/three}]}"

// TestProgressOfRunningJobs is in the state of each model, and in that of all.
func TestProgressOfRunningJobs(t *testing.T) {
	w := newWorld(t, threeOf)
	w.complete("a/one")
	w.finish("a/two", active)
	w.finish("a/three", active)
	tell := func(progress ...any) {
		w.update("WorkloadStatus", func(o map[string]any) {
			o["status"] = map[string]any{"atProvider": map[string]any{"progress": progress}}
		})
		w.run()
	}
	of := func(model string, bytes, percent, eta int) map[string]any {
		return map[string]any{"pod": w.find(model).Name + "-x2x2x", "stage": "fetch", "bytes": bytes, "total": 2048, "percent": percent, "etaSeconds": eta}
	}
	tell(of("a/two", 1024, 50, 200))
	got := w.status()
	if two := got.Models[1]; two.DoneBytes != 1024 || two.Percent != 50 || two.ETASeconds != 200 || !strings.Contains(two.Message, "runs: 1.0 KiB of 2.0 KiB, 50%, 3m left") {
		t.Errorf("the model is %+v", two)
	}
	if three := got.Models[2]; three.DoneBytes != 0 || three.Percent != 0 || !strings.HasSuffix(three.Message, "runs") {
		t.Errorf("the model that says nothing is %+v", three)
	}
	if got.Progress != "50%" || got.ETA != "" || got.Summary != "1/3" {
		t.Errorf("with one unknown: progress %q, ETA %q, %s", got.Progress, got.ETA, got.Summary)
	}
	tell(of("a/two", 1536, 75, 100), of("a/three", 512, 25, 600))
	if got := w.status(); got.Progress != "66%" || got.ETA != "10m" {
		t.Errorf("of all: progress %q, ETA %q", got.Progress, got.ETA)
	}
	// What was told before the end says nothing after it.
	w.finish("a/two", success)
	w.finish("a/three", gaveUp)
	w.run()
	got = w.status()
	for _, m := range got.Models {
		if m.DoneBytes != 0 || m.Percent != 0 || m.ETASeconds != 0 {
			t.Errorf("after its end the model is %+v", m)
		}
	}
	if got.Progress != "66%" || got.ETA != "" {
		t.Errorf("at the end: progress %q, ETA %q", got.Progress, got.ETA)
	}
}
