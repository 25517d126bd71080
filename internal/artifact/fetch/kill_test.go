package fetch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/fetch"
	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/artifact/objectstore/storeurl"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/test/waittest"
)

// victimEnv makes the test binary a process that fetches until a test kills it.
const victimEnv = "KOLDUN_FETCH_VICTIM"

// roundsEnv is the number of kills; a long run is
//
//	KOLDUN_KILL_ROUNDS=100 go test -run TestKilled -v ./internal/artifact/fetch
const roundsEnv = "KOLDUN_KILL_ROUNDS"

// An order is the task of a victim.
type order struct {
	Hub, Repo string
	Source    string // a store to copy from, in place of the hub
	Target    string
	S3        s3.Config
	Usual     bool // with the default options, not with small ones
}

const victimConcurrency = 3

func victim() int {
	if err := obey(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return fault.ExitCode(err)
	}
	// Not the rusage that the parent gets: it includes the parent's own memory
	// at the fork.
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM:") {
			fmt.Print(line)
		}
	}
	return 0
}

func obey() error {
	var o order
	if err := json.Unmarshal([]byte(os.Getenv(victimEnv)), &o); err != nil {
		return err
	}
	ctx := context.Background()
	to, err := storeurl.Open(ctx, o.Target, o.S3)
	if err != nil {
		return err
	}
	options := fetch.Options{PartSize: part, Concurrency: victimConcurrency}
	if o.Usual {
		options = fetch.Options{}
	}
	if o.Source != "" {
		from, err := storeurl.Open(ctx, o.Source, o.S3)
		if err != nil {
			return err
		}
		_, err = fetch.Copy(ctx, fetch.CopyConfig{From: from, To: to, Options: options})
		return err
	}
	client, err := hub.New(hub.Config{Endpoint: o.Hub})
	if err != nil {
		return err
	}
	_, err = fetch.Run(ctx, fetch.Config{Hub: client, Ref: modelref.Ref{Scheme: modelref.Hub, Repo: o.Repo}, To: to, Options: options})
	return err
}

func rounds(t *testing.T, usual int) int {
	t.Helper()
	s := os.Getenv(roundsEnv)
	if s == "" {
		return usual
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", roundsEnv, err)
	}
	return n
}

// runVictim runs a process to its end, or kills it after the duration if that is
// not 0. It returns the output, and reports whether it killed the process.
func runVictim(t *testing.T, o order, after time.Duration) (string, bool) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), victimEnv+"="+string(raw))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := after
	if limit == 0 {
		limit = waittest.Limit(5 * time.Minute) // longer than any run
	}
	defer time.AfterFunc(limit, func() { _ = cmd.Process.Kill() }).Stop()
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out.String(), false
	case errors.As(err, &exit) && exit.ExitCode() == -1 && after > 0:
		return "", true
	}
	t.Fatalf("the fetching process failed: %v: %s", err, errs.String())
	return "", false
}

// killed runs victims and kills each after a random part of the time of a whole
// run. When a victim completes before that, it starts over with an empty target,
// until n victims are killed. check checks the target after each kill, done after
// each complete run; wipe empties it.
func killed(t *testing.T, o order, n int, check, done, wipe func()) {
	t.Helper()
	began := time.Now()
	runVictim(t, o, 0)
	whole := time.Since(began)
	done()
	wipe()
	kills := 0
	for kills < n {
		if _, hit := runVictim(t, o, 1+rand.N(whole)); !hit {
			done()
			wipe()
			continue
		}
		kills++
		check()
	}
	runVictim(t, o, 0)
	done()
	t.Logf("%d kills, an undisturbed run takes %s", kills, whole.Round(time.Millisecond))
}

// wholeOrNone checks that a manifest, if there is one, lists complete files.
func wholeOrNone(t *testing.T, to objectstore.Store, want map[string][]byte) {
	t.Helper()
	_, _, err := manifest.Load(t.Context(), to)
	switch {
	case err == nil:
		verify(t, to, want)
	case !fault.Is(err, fault.NotFound):
		t.Errorf("the manifest cannot be read: %v", err)
	}
	// A visible file is complete, with or without a manifest.
	list, err := to.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		if body, ok := want[o.Name]; ok && !holds(t, to, o.Name, body) {
			t.Errorf("file %q is visible and differs", o.Name)
		}
	}
}

func wipe(t *testing.T, to objectstore.Store) {
	t.Helper()
	list, err := to.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		if err := to.Remove(t.Context(), o.Name); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.AbortUploads(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func killRepo() map[string][]byte {
	files := repo()
	files["model-00001-of-00002.safetensors"] = content(6*part+17, 33)
	return files
}

func TestKilledFetch(t *testing.T) {
	t.Parallel()
	files := killRepo()
	want := chosen(files)
	for name, target := range map[string]func(t *testing.T) (string, *s3test.Bucket){
		"S3": func(t *testing.T) (string, *s3test.Bucket) {
			b := s3test.New(t)
			return "s3://" + b.Name + "/models/m", b
		},
		"Dir": func(t *testing.T) (string, *s3test.Bucket) { return t.TempDir() + "/m", &s3test.Bucket{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hubtest.New(t, hubtest.Options{}, files)
			// A source slower than loopback, so that kills hit a running fetch.
			h.Break(hubtest.Rule{CDN: true, Do: slowly(20 * time.Millisecond)})
			url, b := target(t)
			to, err := storeurl.Open(t.Context(), url, b.Config)
			if err != nil {
				t.Fatal(err)
			}
			kills := 0
			check := func() {
				kills++
				wholeOrNone(t, to, want)
			}
			done := func() {
				verify(t, to, want)
				checkThrift(t, h, kills)
				if b.Client != nil && b.Uploads(t) != 0 {
					t.Errorf("%d unfinished uploads are left", b.Uploads(t))
				}
				kills = 0
				h.Forget()
			}
			killed(t, order{Hub: h.URL, Repo: h.Repo, Target: url, S3: b.Config}, rounds(t, 4), check, done, func() { wipe(t, to) })
		})
	}
}

// slowly delays each answer.
func slowly(d time.Duration) hubtest.Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}
}

// checkThrift counts the transferred parts of the large file: each part once, and
// for each kill at most the parts in flight, which are in a buffer or written but
// not yet in the saved state.
func checkThrift(t *testing.T, h *hubtest.Hub, kills int) {
	t.Helper()
	got := 0
	for _, r := range h.Requests() {
		if r.CDN && strings.Contains(r.Path, "model-00001") && r.Range != "" {
			got++
		}
	}
	const parts = 7
	if most := parts + kills*2*victimConcurrency; got > most {
		t.Errorf("%d parts of the large file fetched in spite of %d kills, want at most %d", got, kills, most)
	}
}

func TestKilledCopy(t *testing.T) {
	t.Parallel()
	files := killRepo()
	want := chosen(files)
	b := s3test.New(t)
	h := hubtest.New(t, hubtest.Options{}, files)
	mustRun(t, config(t, h, b.Store(t, "source")))
	dir := t.TempDir() + "/m"
	to := dirStore(t, dir)
	killed(t, order{Source: "s3://" + b.Name + "/source", Target: dir, S3: b.Config}, rounds(t, 4),
		func() { wholeOrNone(t, to, want) }, func() { verify(t, to, want) }, func() { wipe(t, to) })
}
