package main_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/progress"
	"github.com/gorizond/koldun/internal/registry"
)

// Jobs of a cluster write their result to the registry, with the model's header or
// with their error.
func TestJobsTellTheirProgress(t *testing.T) {
	f := newStack(t)
	fetched, converted := t.TempDir(), t.TempDir()
	cases := []struct {
		key  string
		args []string
		code int
		kind fault.Kind // empty: the Job succeeds
	}{
		{"fetch.good", []string{"fetch", "--from", models + "/koldun-tiny", "--to", fetched}, 0, ""},
		{"convert.good", []string{"convert", "--from", fetched, "--to", converted, "--name", "tiny"}, 0, ""},
		{"fetch.bad", []string{"fetch", "--from", fetched + "/none", "--to", t.TempDir()}, 12, fault.NotFound},
	}
	for _, c := range cases {
		t.Run(c.key, func(t *testing.T) {
			p := f.koldun(append(c.args, "--progress-key", c.key)...)
			if code := p.exit(t); code != c.code {
				t.Fatalf("exit status %d, want %d: %s", code, c.code, p.text())
			}
			entry, err := registry.Progress(f.bus).Get(f.ctx(), c.key)
			if err != nil {
				t.Fatal(err)
			}
			r := entry.Value
			switch {
			case r.Stage != c.args[0]:
				t.Errorf("got stage %q", r.Stage)
			case c.kind != "" && (r.Phase != progress.Failed || r.Kind != string(c.kind) || r.Message == ""):
				t.Errorf("got record %+v", r)
			case c.kind == "" && (r.Phase != progress.Done || r.Bytes == 0 || r.Bytes != r.Total || r.Percent() != 100):
				t.Errorf("got record %+v", r)
			}
			if hasShape := r.Shape != nil; hasShape != (c.key == "convert.good") {
				t.Errorf("got a model's header: %v", hasShape)
			}
		})
	}
}
