package main_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/names"
)

// remote starts a hub with the tiny model and an object store, and returns their
// environment variables.
func remote(t *testing.T, o hubtest.Options) (*hubtest.Hub, *s3test.Bucket) {
	t.Helper()
	h, b := hubtest.NewDir(t, o, models+"/koldun-tiny"), s3test.New(t)
	t.Setenv(names.EnvHFEndpoint, h.URL)
	for name, value := range b.Config.Env() {
		t.Setenv(name, string(value))
	}
	return h, b
}

// jobs runs commands one after the other, and requires that they succeed.
func jobs(t *testing.T, steps ...[]string) (last string) {
	t.Helper()
	for _, args := range steps {
		p := programtest.Start(t, args...)
		if code := p.Exit(t); code != 0 {
			t.Fatalf("koldun %s: exit status %d: %s", args[0], code, p.Text())
		}
		last = p.Text()
	}
	return last
}

func TestJobsFromHubToBucket(t *testing.T) {
	h, b := remote(t, hubtest.Options{})
	source, model := "s3://"+b.Name+"/source", "s3://"+b.Name+"/model"
	jobs(t,
		[]string{"fetch", "--from", "hf://" + h.Repo, "--to", source},
		[]string{"convert", "--from", source, "--to", model, "--name", "tiny"},
		[]string{"verify", source}, []string{"verify", model})
	for _, from := range []string{"hf://" + h.Repo, source, model} {
		if text := jobs(t, []string{"topology", from}); !strings.Contains(text, "4 key-value heads, q40 weights") {
			t.Errorf("topology of %s: got %q", from, text)
		}
	}
	store := b.Store(t, "model")
	if err := store.Put(t.Context(), names.TokenizerFile("tiny"), []byte("other")); err != nil {
		t.Fatal(err)
	}
	refused(t, 14, "has 5 bytes", "verify", model)
}

// Exit statuses determine whether a Job is retried: bad credentials, missing and
// corrupt files and the like are final.
func TestJobsRefuse(t *testing.T) {
	h, b := remote(t, hubtest.Options{})
	dir := t.TempDir()
	to := "s3://" + b.Name + "/m"
	refused(t, 12, "no such repository", "fetch", "--from", "hf://missing/missing", "--to", to)
	refused(t, 12, "nowhere", "fetch", "--from", "hf://"+h.Repo+"@nowhere", "--to", to)
	for _, args := range [][]string{
		{"fetch", "--from", "hf://" + h.Repo, "--to", "s3://no-such-bucket/m"},
		{"fetch", "--from", "s3://no-such-bucket/m", "--to", dir + "/m"},
		{"convert", "--from", models + "/koldun-tiny", "--to", "s3://no-such-bucket/m", "--name", "tiny"},
		{"verify", "s3://no-such-bucket/m"},
	} {
		refused(t, 12, `cannot use bucket "no-such-bucket": it does not exist`, args...)
	}
	file := models + "/koldun-tiny/config.json"
	refused(t, 15, "is a file: name a folder", "fetch", "--from", "hf://"+h.Repo, "--to", file)
	refused(t, 15, "is a file: name a folder", "convert", "--from", models+"/koldun-tiny", "--to", file, "--name", "tiny")
	refused(t, 10, "the source is empty", "fetch", "--from=", "--to", to)
	refused(t, 10, "parts of 99999999999999 MiB", "fetch", "--from", "hf://"+h.Repo, "--to", to, "--part-size=99999999999999")
	refused(t, 12, "it does not exist", "fetch", "--from", dir+"/none", "--to", to)
	refused(t, 12, "it does not exist", "convert", "--from", dir+"/none", "--to", to, "--name", "x")
	refused(t, 10, "name the folder", "verify", models+"/koldun-tiny/config.json")
	refused(t, 12, "neither the manifest", "topology", dir)
	t.Setenv(names.EnvS3SecretKey, "wrong")
	refused(t, 11, "SignatureDoesNotMatch", "fetch", "--from", "hf://"+h.Repo, "--to", to)
	t.Setenv(names.EnvS3SecretKey, b.Config.SecretKey)
	h.Break(hubtest.Rule{Do: hubtest.Gated()})
	refused(t, 11, names.EnvHFToken, "fetch", "--from", "hf://"+h.Repo, "--to", to)
	h.Mend()
	h.Break(hubtest.Rule{Do: hubtest.Status(http.StatusUnauthorized, "")})
	refused(t, 11, names.EnvHFToken, "fetch", "--from", "hf://"+h.Repo, "--to", to)
	h.Mend()
	jobs(t, []string{"fetch", "--from", "hf://" + h.Repo, "--to", to}, []string{"verify", to})
}

func refused(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	p := programtest.Start(t, args...)
	if got := p.Exit(t); got != code || !strings.Contains(p.Text(), says) {
		t.Errorf("koldun %q: exit status %d, want %d and %q in: %s", args, got, code, says, p.Text())
	}
}
