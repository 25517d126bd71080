package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestVolume tests that engines read a model from a volume: one that a Job fills, and in the
// flavour claims one of a CSI driver over the object store. An engine starts anew on a volume
// that is filled while the object store is away.
func TestVolume(t *testing.T) {
	w := koldun(t)
	tell("A volume: engines read a model from one, and start anew on it.")
	raw, err := os.ReadFile("testdata/volume.yaml")
	if err != nil {
		t.Fatal(err)
	}
	delivery := "pvc"
	if flavour() == "claims" {
		delivery = "csi"
		w.installer.addDriver(t)
	}
	claim := filepath.Join(t.TempDir(), "volume.yaml")
	if err := os.WriteFile(claim, []byte(strings.ReplaceAll(string(raw), "DELIVERY", delivery)), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	tell("kubectl apply -f testdata/volume.yaml, delivery %s", delivery)
	w.Kubectl(t, "apply", "-f", claim)
	w.claims.ready(t, "default", "volume")
	api := asks(w.services.url(t, "default", "volume-gateway"), "")
	streams(t, api, "default/volume")
	tell("It answers after %s", time.Since(began).Round(time.Second))
	w.output.lines(t, "get", "persistentvolumeclaims,pods", "--show-kind")
	if delivery == "csi" {
		w.output.lines(t, "logs", "--namespace=kube-system", "--selector=app=csi")
	}
	back := func() {}
	if delivery == "pvc" { // the driver reads the object store at each mount
		back = w.faults.storeAway(t)
	}
	began = time.Now()
	w.pods.kills("default", "koldun.gorizond.io/component=root")(t)
	w.claims.ready(t, "default", "volume")
	streams(t, api, "default/volume")
	tell("Its engine is killed, and answers again after %s", time.Since(began).Round(time.Second))
	back()
	w.claims.deleted(t, claim)
}

// lines prints what kubectl says.
func (o *output) lines(t *testing.T, args ...string) {
	t.Helper()
	for line := range strings.Lines(o.Kubectl(t, args...)) {
		if line = strings.TrimSpace(line); line != "" {
			tell("  %s", line)
		}
	}
}
