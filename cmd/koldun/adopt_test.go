package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/names"
)

const adoptedClaim = `apiVersion: koldun.gorizond.io/v1
kind: Dllama
metadata: {name: adopted, namespace: default}
spec:
  model:
    sourceUrl: %s/%s
    revision: %[4]s
    localPath: s3://%[3]s/new/model
    objectStorage: {bucketForSource: %[3]s}
  expose: {allowAnonymous: true}
`

// An oldStore has the files of the first Koldun: in its layout, without manifests.
type oldStore struct {
	hub               *hubtest.Hub
	claim, data       string
	source, converted string
}

func newOldStore(t *testing.T) oldStore {
	t.Helper()
	h := hubtest.NewDir(t, hubtest.Options{}, models+"/koldun-tiny")
	o := oldStore{hub: h, data: t.TempDir()}
	g := s3test.Start(t, filepath.Join(o.data, "s3"), "")
	b := s3test.NewOn(t, g)
	for name, value := range b.Config.Env() {
		t.Setenv(name, string(value))
	}
	o.source, o.converted = "s3://"+b.Name+"/models/tiny", "s3://"+b.Name+"/converted/tiny"
	jobs(t,
		[]string{"fetch", "--from", h.URL + "/" + h.Repo, "--to", o.source},
		[]string{"convert", "--from", o.source, "--to", o.converted, "--name", "my-model"})
	for _, folder := range []string{"models/tiny", "converted/tiny"} {
		if err := b.Store(t, folder).Remove(t.Context(), names.Manifest); err != nil {
			t.Fatal(err)
		}
	}
	o.claim = filepath.Join(t.TempDir(), "claim.yaml")
	if err := os.WriteFile(o.claim, fmt.Appendf(nil, adoptedClaim, h.URL, h.Repo, b.Name, h.Commit()), 0o600); err != nil {
		t.Fatal(err)
	}
	h.Forget()
	t.Cleanup(g.Kill)
	return o
}

// downloads lists the files of the repository that were asked for. A Model also
// reads config.json, for the preflight.
func (o oldStore) downloads() []string {
	var out []string
	for _, r := range o.hub.Requests() {
		if (r.CDN || strings.Contains(r.Path, "/resolve/")) && !strings.HasSuffix(r.Path, "/config.json") {
			out = append(out, r.Path)
		}
	}
	return out
}

// TestAdoptedModelsAreServed runs a claim on files that the first Koldun has left.
func TestAdoptedModelsAreServed(t *testing.T) {
	for name, c := range map[string]struct {
		converted bool
		jobs      []string // that run nevertheless
	}{
		"Converted": {true, nil},
		"Source":    {false, []string{"adopted-convert"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOldStore(t)
			from := o.source
			if c.converted {
				from = o.converted
			}
			for range 2 { // the second time there is nothing to do
				jobs(t, []string{"adopt", "-f", o.claim, "--from", from})
			}
			p := programtest.Start(t, "up", "-f", o.claim, "--data", o.data, "--port", "adopted-gateway=0", "--once")
			if code := p.Exit(t); code != 0 || !strings.Contains(p.Text(), answer) {
				t.Fatalf("exit status %d: %s", code, p.Text())
			}
			if strings.Contains(p.Text(), "-fetch") || strings.Contains(p.Text(), "-convert") != (c.jobs != nil) {
				t.Errorf("other Jobs ran than %q:\n%s", c.jobs, p.Text())
			}
			if files := o.downloads(); len(files) > 0 {
				t.Errorf("the hub was asked for %q", files)
			}
		})
	}
}

func TestAdoptRefuses(t *testing.T) {
	o := newOldStore(t)
	dir := t.TempDir()
	refused(t, 12, "it has no file dllama_model_NAME_q40.m", "adopt", "-f", o.claim, "--from", folderWith(t, "other.m", "x"))
	refused(t, 12, `not "dllama_tokenizer_a.t"`, "adopt", "-f", o.claim, "--from", folderWith(t, "dllama_model_a_q40.m", "x"))
	refused(t, 10, "its weights are of type f32", "adopt", "-f", o.claim, "--from", folderWith(t, "dllama_model_a_f32.m", "x"))
	// The folder has another file than the commit.
	other := folderWith(t, "config.json", "{}")
	if err := os.CopyFS(filepath.Join(dir, "copy"), os.DirFS(models+"/koldun-tiny")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(other, "config.json"), filepath.Join(dir, "copy", "config.json")); err != nil {
		t.Fatal(err)
	}
	p := programtest.Start(t, "adopt", "-f", o.claim, "--from", filepath.Join(dir, "copy"))
	if code := p.Exit(t); code == 0 || !strings.Contains(p.Text(), "config.json") {
		t.Errorf("a foreign config.json: exit status %d: %s", code, p.Text())
	}
	refused(t, 10, "choose one with --name", "adopt", "-f", o.claim, "--name", "none", "--from", dir)
}

func folderWith(t *testing.T, file, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestFilesOnAVolumeAreKept fetches into a folder that hf-operator has filled, as the
// Job of a ModelDownload does.
func TestFilesOnAVolumeAreKept(t *testing.T) {
	h := hubtest.NewDir(t, hubtest.Options{}, models+"/koldun-tiny")
	dir := filepath.Join(t.TempDir(), "org", "repo")
	if err := os.CopyFS(dir, os.DirFS(models+"/koldun-tiny")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	jobs(t, []string{"fetch", "--from", h.URL + "/" + h.Repo, "--to", dir, "--include", "*"}, []string{"verify", dir})
	files := map[string]bool{}
	for _, r := range h.Requests() {
		if _, file, ok := strings.Cut(r.Path, "/resolve/"); ok {
			files[filepath.Base(file)] = true
		}
	}
	if len(files) != 1 || !files["tokenizer.json"] {
		t.Errorf("the hub was asked for %v, want only the file that was not complete", files)
	}
}
