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

	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	dirstore "github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/artifact/verify"
	"github.com/gorizond/koldun/internal/fault"

	"github.com/gorizond/koldun/test/history"
)

const tinyModel = "../../examples/models/koldun-tiny"

var modelKills = flag.Int("modelkills", 5, "kills in TestModelsUnderKills, of koldun fetch and of koldun convert each")

// TestModelsUnderKills kills koldun fetch, and then koldun convert of the fetched
// model, at random moments. Whenever there is a manifest, koldun verify must find
// the bytes that it lists, and they must be the correct ones.
func TestModelsUnderKills(t *testing.T) {
	t.Parallel()
	hub := hubtest.NewDir(t, hubtest.Options{}, tinyModel)
	// Slow the downloads down, so that kills hit them.
	hub.Break(hubtest.Rule{CDN: true, Do: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		select {
		case <-time.After(20 * time.Millisecond):
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}})
	s := emptyStack(t, koldun(t))
	h := &history.History{}

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
	h.Verify(t, history.WholeModels)
}

// A modelJob is a koldun command that writes a model to a folder.
type modelJob struct {
	s      *stack
	h      *history.History
	name   string
	args   []string
	env    []string
	wanted map[string]string // SHA-256 of each correct file
	usual  time.Duration     // duration of an undisturbed run
	folder int               // number of the last folder
}

// undisturbed runs the job to its end, and returns the files of its manifest.
func (j *modelJob) undisturbed(t *testing.T) map[string]string {
	t.Helper()
	begun := time.Now()
	dir := j.next()
	j.run(t, dir, 0)
	j.usual = time.Since(begun)
	return j.inspect(t, dir, true).Files
}

// killed kills the job n times, and continues in a new folder whenever the job ends
// before it is killed. It returns the last folder, with the complete model.
func (j *modelJob) killed(t *testing.T, n int) string {
	t.Helper()
	dir := j.next()
	for kills := 0; kills < n; {
		if j.run(t, dir, 1+rand.N(j.usual)) {
			j.record(t, dir, true)
			dir = j.next()
			continue
		}
		kills++
		j.record(t, dir, false)
	}
	j.run(t, dir, 0)
	j.record(t, dir, true)
	return dir
}

func (j *modelJob) next() string {
	j.folder++
	return filepath.Join(j.s.dir, fmt.Sprint(j.name, j.folder))
}

// run runs the job, kills it after the time life (0: never), and reports whether it
// ended before.
func (j *modelJob) run(t *testing.T, dir string, life time.Duration) bool {
	t.Helper()
	cmd := exec.Command(j.s.bin, append([]string{j.name, "--to=" + dir}, j.args...)...)
	cmd.Env = append(os.Environ(), j.env...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	j.s.processes.tie().Tie(cmd)
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
		t.Fatalf("koldun %s: %v\n%s", j.name, err, tail(output.Bytes(), 1500))
	}
	return err == nil
}

// record adds the state of a folder to the history.
func (j *modelJob) record(t *testing.T, dir string, last bool) {
	t.Helper()
	j.h.Models = append(j.h.Models, j.inspect(t, dir, last))
}

// inspect verifies the content of a folder. last says that the job has succeeded.
func (j *modelJob) inspect(t *testing.T, dir string, last bool) history.ModelState {
	t.Helper()
	m := history.ModelState{When: fmt.Sprintf("%s in %s", j.name, filepath.Base(dir)), Wanted: j.wanted, Last: last}
	store, err := dirstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	switch _, _, err := manifest.Load(t.Context(), store); {
	case fault.Is(err, fault.NotFound):
		return m
	case err != nil:
		m.Ready, m.Wrong = true, err
		return m
	}
	m.Ready, m.Files = true, map[string]string{}
	var listed manifest.Manifest
	listed, m.Wrong = verify.Run(t.Context(), verify.Config{Store: store})
	for _, f := range listed.Files {
		m.Files[f.Path] = f.SHA256
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
