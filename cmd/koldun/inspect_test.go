package main_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
)

// An inspection whose report cannot be written has to run again: nothing else comes of
// it, and its Model waits for it.
func TestInspectionIsReported(t *testing.T) {
	srv := natstest.Start(t)
	for name, value := range map[string]string{names.EnvNATSURL: srv.URL(), names.EnvNATSUser: natstest.User, names.EnvNATSPassword: natstest.Password} {
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	jobs(t, []string{"convert", "--from", models + "/koldun-tiny", "--to", dir, "--name", "tiny"})
	key := names.ProgressKey("ns", "tiny", "inspect")
	inspect := []string{"inspect", dir, "--model", names.ModelFile("tiny", "q40"), "--tokenizer", names.TokenizerFile("tiny"), "--progress-key", key}
	p := programtest.Start(t, inspect...)
	if code := p.Exit(t); code != 75 || !strings.Contains(p.Text(), "cannot report the headers") {
		t.Fatalf("without a bucket for reports: exit status %d: %s", code, p.Text())
	}
	srv.Connect(t) // creates the buckets
	jobs(t, inspect)
}
