package serving_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/hub/hubtest"
	"github.com/gorizond/koldun/internal/manifest"
	dirstore "github.com/gorizond/koldun/internal/objectstore/dir"
	"github.com/gorizond/koldun/internal/verify"
)

const tinyModel = "../../examples/models/koldun-tiny"

var modelKills = flag.Int("modelkills", 5, "kills in TestModelsUnderKills, of koldun fetch and of koldun convert each")

// TestModelsUnderKills kills koldun fetch, and then koldun convert of what was
// fetched, at random moments of their runs. Whenever there is a manifest, the
// check of koldun verify must find the bytes that it lists, and they must be
// the right ones.
func TestModelsUnderKills(t *testing.T) {
	t.Parallel()
	hub := hubtest.NewDir(t, hubtest.Options{}, tinyModel)
	// Slower than loopback, so that there is something to hit.
	hub.Break(hubtest.Rule{CDN: true, Do: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		select {
		case <-time.After(20 * time.Millisecond):
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}})
	s := &stack{tb: t, dir: t.TempDir(), bin: koldun(t)}
	h := &history{}

	fetch := modelJob{s: s, h: h, name: "fetch", args: []string{"--from=hf://" + hub.Repo}, env: []string{"HF_ENDPOINT=" + hub.URL}}
	reference := fetch.undisturbed(t)
	for path := range reference {
		reference[path] = digest(t, filepath.Join(tinyModel, path))
	}
	fetch.wanted = reference
	fetched := fetch.killed(t, *modelKills)

	convert := modelJob{s: s, h: h, name: "convert", args: []string{"--from=" + fetched, "--name=tiny"}}
	convert.wanted = convert.undisturbed(t)
	convert.killed(t, *modelKills)
	h.judge(t, wholeModels)
}

// A modelJob is a command of koldun that makes a model in a folder.
type modelJob struct {
	s      *stack
	h      *history
	name   string
	args   []string
	env    []string
	wanted map[string]string // SHA-256 of each right file
	usual  time.Duration     // how long a run takes
	folder int               // the last that was used
}

// undisturbed lets the job run to its end, and returns what its manifest says.
func (j *modelJob) undisturbed(t *testing.T) map[string]string {
	t.Helper()
	begun := time.Now()
	dir := j.next()
	j.run(t, dir, 0)
	j.usual = time.Since(begun)
	return j.look(t, dir, true).files
}

// killed kills the job n times, beginning anew in another folder whenever it
// came to its end before. It returns the last folder, with the whole model.
func (j *modelJob) killed(t *testing.T, n int) string {
	t.Helper()
	dir := j.next()
	for kills := 0; kills < n; {
		if j.run(t, dir, 1+rand.N(j.usual)) {
			j.judge(t, dir, true)
			dir = j.next()
			continue
		}
		kills++
		j.judge(t, dir, false)
	}
	j.run(t, dir, 0)
	j.judge(t, dir, true)
	return dir
}

func (j *modelJob) next() string {
	j.folder++
	return filepath.Join(j.s.dir, fmt.Sprint(j.name, j.folder))
}

// run runs the job and reports whether it came to its end before it was killed;
// life is how long it has, 0 for ever.
func (j *modelJob) run(t *testing.T, dir string, life time.Duration) bool {
	t.Helper()
	cmd := exec.Command(j.s.bin, append([]string{j.name, "--to=" + dir}, j.args...)...)
	cmd.Env = append(os.Environ(), j.env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	j.s.tie().Tie(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if life > 0 {
		ctx, cancel = context.WithTimeout(ctx, life)
		defer cancel()
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	err := cmd.Wait()
	if err != nil && cmd.ProcessState.ExitCode() >= 0 {
		t.Fatalf("koldun %s: %v\n%s", j.name, err, tail(said.Bytes(), 1500))
	}
	return err == nil
}

// judge puts what stands in a folder into the history.
func (j *modelJob) judge(t *testing.T, dir string, last bool) {
	t.Helper()
	j.h.models = append(j.h.models, j.look(t, dir, last))
}

// look verifies what stands in a folder. last says that the job has ended well.
func (j *modelJob) look(t *testing.T, dir string, last bool) modelState {
	t.Helper()
	m := modelState{when: fmt.Sprintf("%s in %s", j.name, filepath.Base(dir)), wanted: j.wanted, last: last}
	store, err := dirstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	switch _, _, err := manifest.Load(t.Context(), store); {
	case fault.Is(err, fault.NotFound):
		return m
	case err != nil:
		m.ready, m.wrong = true, err
		return m
	}
	m.ready, m.files = true, map[string]string{}
	var listed manifest.Manifest
	listed, m.wrong = verify.Run(t.Context(), verify.Config{Store: store})
	for _, f := range listed.Files {
		m.files[f.Path] = f.SHA256
	}
	return m
}

func digest(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
