package managed_test

import (
	"testing"

	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

// Files that were verified once are not read again until verify changes.
func TestArtifactIsVerifiedOnce(t *testing.T) {
	w := start(t, nil)
	w.model(t)
	store := w.s3.Store(t, "tiny")
	config := map[string]any{"url": store.URL(), "verify": "once", "timeouts": map[string]any{"create": "1m", "update": "1m"}}
	r := w.Resource("koldun_model_artifact")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	// Another read of the files would find the difference.
	if err := store.Put(t.Context(), "dllama_model_tiny_q40.m", []byte("WEIGHTS")); err != nil {
		t.Fatal(err)
	}
	r.CheckStable(config)
	if r.Attribute("ready") != true {
		t.Errorf("a refresh verified the files again: %v", providertest.JSON(r.State))
	}
	config["progress_key"] = "fetch.tiny"
	if e := r.Apply(config); e != "" || r.Attribute("ready") != true {
		t.Errorf("a change of another attribute verified the files again: %s %v", e, providertest.JSON(r.State))
	}
	config["verify"] = "twice"
	config["wait"] = map[string]any{"until": "none"}
	if e := r.Apply(config); e == "" && r.Attribute("ready") == true {
		t.Error("another value of verify did not verify the files again")
	}
}
