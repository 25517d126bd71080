package fetch_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/artifact/fetch"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/waittest"
)

func TestFetches(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, to objectstore.Store) {
		h := hubtest.New(t, hubtest.Options{PageSize: 3}, repo())
		cfg := config(t, h, to)
		var seen reports
		cfg.Progress = seen.add
		m := mustRun(t, cfg)
		want := chosen(repo())
		stored := verify(t, to, want)
		if diff := cmp.Diff(stored.Origin, m.Origin); diff != "" {
			t.Error(diff)
		}
		if m.Origin.Source != "hf://org/model" || m.Origin.Commit != h.Commit() || m.Kind != manifest.Source {
			t.Errorf("manifest says %+v", m)
		}
		last := seen.last(t)
		if last.Phase != progress.Done || last.Bytes != m.Size() || last.Total != m.Size() {
			t.Errorf("last report %+v", last)
		}
	})
}

// A second run with a complete target asks only for the commit of the branch,
// and nothing at all if the revision is a commit.
func TestSecondRunDoesNothing(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, to objectstore.Store) {
		h := hubtest.New(t, hubtest.Options{}, repo())
		cfg := config(t, h, to)
		first := mustRun(t, cfg)
		h.Forget()
		var seen reports
		cfg.Progress = seen.add
		again := mustRun(t, cfg)
		if diff := cmp.Diff(first.Origin, again.Origin); diff != "" || !first.Written.Equal(again.Written) {
			t.Errorf("another manifest (%v, %v): %s", first.Written, again.Written, diff)
		}
		if n := len(h.Requests()); n != 1 {
			t.Errorf("%d requests, want 1: %+v", n, h.Requests())
		}
		if last := seen.last(t); last.Phase != progress.Done || last.Percent() != 100 {
			t.Errorf("last report %+v", last)
		}
		h.Forget()
		cfg.Ref.Revision = h.Commit()
		mustRun(t, cfg)
		if n := len(h.Requests()); n != 0 {
			t.Errorf("%d requests for a commit, want none", n)
		}
	})
}

// A fetch transfers changed and removed files again, and only those.
func TestMendsTarget(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, to objectstore.Store) {
		h := hubtest.New(t, hubtest.Options{}, repo())
		cfg := config(t, h, to)
		mustRun(t, cfg)
		large, small := "model-00001-of-00002.safetensors", "config.json"
		other := content(len(repo()[large]), 55)
		for _, change := range []func() error{
			func() error { return to.Remove(t.Context(), large) },
			func() error { return to.Put(t.Context(), large, other) },
			func() error { return to.Remove(t.Context(), small) },
			func() error { return to.Put(t.Context(), small, []byte(`{"model_type":"LLAMA"}`)) },
			func() error { return to.Remove(t.Context(), names.Manifest) },
			func() error { return to.Put(t.Context(), names.Manifest, []byte("{")) },
		} {
			if err := change(); err != nil {
				t.Fatal(err)
			}
			h.Forget()
			mustRun(t, cfg)
			verify(t, to, chosen(repo()))
			if n := rangesOf(h, "model-00002"); n != 0 {
				t.Errorf("%d ranges of a file that was whole", n)
			}
		}
	})
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	h := hubtest.New(t, hubtest.Options{}, repo())
	to := dirStore(t, t.TempDir())
	cfg := config(t, h, to)
	cfg.Include = []string{"*.json", "original/"}
	cfg.Exclude = []string{"sub/*"}
	mustRun(t, cfg)
	want := map[string][]byte{}
	for _, name := range []string{"config.json", "tokenizer.json", "original/consolidated.pth", "original/params.json"} {
		want[name] = repo()[name]
	}
	verify(t, to, want)

	// Other patterns select another model: a fetch removes the other files.
	cfg.Include, cfg.Exclude = nil, nil
	mustRun(t, cfg)
	verify(t, to, chosen(repo()))

	cfg.Include = []string{"nothing*"}
	if _, err := fetch.Run(t.Context(), cfg); !fault.Is(err, fault.NotFound) {
		t.Errorf("patterns that choose nothing: %v", err)
	}
	verify(t, to, chosen(repo()))
}

func TestNoWeights(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{}, map[string][]byte{"config.json": []byte("{}"), "pytorch_model.bin": []byte("x")})
	_, err := fetch.Run(t.Context(), config(t, h, dirStore(t, t.TempDir())))
	if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), ".safetensors") {
		t.Errorf("Run = %v", err)
	}
}

// A branch that moves during a fetch changes nothing: the fetch pins the commit.
func TestMovingBranch(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, to objectstore.Store) {
		h := hubtest.New(t, hubtest.Options{}, repo())
		first := h.Commit()
		newer := repo()
		newer["model-00001-of-00002.safetensors"] = content(3*part+17, 99) // the same size
		newer["config.json"] = []byte(`{"model_type":"qwen3"}`)
		delete(newer, "model-00002-of-00002.safetensors")
		moved := false
		h.Break(hubtest.Rule{Path: "model-00001", Times: 1, Do: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			h.Publish(newer)
			moved = true
			next.ServeHTTP(w, r)
		}})
		cfg := config(t, h, to)
		if m := mustRun(t, cfg); m.Origin.Commit != first {
			t.Errorf("commit %s, want %s", m.Origin.Commit, first)
		}
		if !moved || h.Commit() == first {
			t.Fatal("the branch did not move")
		}
		verify(t, to, chosen(repo()))

		if m := mustRun(t, cfg); m.Origin.Commit != h.Commit() {
			t.Errorf("commit %s, want %s", m.Origin.Commit, h.Commit())
		}
		verify(t, to, chosen(newer))
	})
}

// An unfinished fetch of another commit leaves nothing behind in the new one.
func TestCommitChangesBetweenRuns(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, to objectstore.Store) {
		h := hubtest.New(t, hubtest.Options{}, repo())
		interrupt(t, config(t, h, to), h, "model-00001")
		newer := repo()
		newer["model-00001-of-00002.safetensors"] = content(3*part+17, 99)
		h.Publish(newer)
		h.Mend()
		mustRun(t, config(t, h, to))
		verify(t, to, chosen(newer))
	})
}

// interrupt runs a fetch and stops it when the last part of a file is requested
// and the three parts before it are stored.
func interrupt(t *testing.T, cfg fetch.Config, h *hubtest.Hub, path string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h.Break(hubtest.Rule{Path: path, Range: fmt.Sprintf("bytes=%d-%d", 3*part, 3*part+16), Do: hubtest.Silence()})
	cfg.To = &spy{Store: cfg.To, saved: func(name string, state []byte) {
		if strings.Contains(name, path) && strings.Contains(string(state), `"parts":3`) {
			cancel()
		}
	}}
	_, err := fetch.Run(ctx, cfg)
	if !fault.Is(err, fault.Interrupted) {
		t.Fatalf("Run = %v, want Interrupted", err)
	}
	noManifest(t, cfg.To)
}

// After an interruption a fetch transfers only the missing part.
func TestResumes(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, to objectstore.Store) {
		h := hubtest.New(t, hubtest.Options{}, repo())
		cfg := config(t, h, to)
		cfg.Include = []string{"model-00001*"}
		interrupt(t, cfg, h, "model-00001")
		h.Mend()
		h.Forget()
		var seen reports
		cfg.Progress = seen.add
		mustRun(t, cfg)
		verify(t, to, map[string][]byte{"model-00001-of-00002.safetensors": repo()["model-00001-of-00002.safetensors"]})
		if n := rangesOf(h, "model-00001"); n != 1 {
			t.Errorf("%d ranges after resuming, want 1: %+v", n, h.Requests())
		}
	})
}

// The same for a file that is in git and not in LFS.
func TestResumesGitFile(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, to objectstore.Store) {
		files := map[string][]byte{"tokenizer.json": content(9<<20, 9)} // two parts; from 10 MiB it would be in LFS
		h := hubtest.New(t, hubtest.Options{}, files)
		cfg := config(t, h, to)
		cfg.Include = []string{"*.json"}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		h.Break(hubtest.Rule{Range: fmt.Sprintf("bytes=%d-%d", part, 9<<20-1), Do: hubtest.Silence()})
		stopping := cfg
		stopping.To = &spy{Store: to, saved: func(string, []byte) { cancel() }}
		if _, err := fetch.Run(ctx, stopping); !fault.Is(err, fault.Interrupted) {
			t.Fatalf("Run = %v", err)
		}
		h.Mend()
		h.Forget()
		mustRun(t, cfg)
		verify(t, to, files)
		if n := rangesOf(h, "tokenizer.json"); n != 1 {
			t.Errorf("%d ranges after resuming, want 1", n)
		}
		// Whole, but without a manifest: recognised by git's digest.
		if err := to.Remove(t.Context(), names.Manifest); err != nil {
			t.Fatal(err)
		}
		h.Forget()
		mustRun(t, cfg)
		verify(t, to, files)
		if n := rangesOf(h, "tokenizer.json"); n != 0 {
			t.Errorf("%d ranges of a file that is there, want none", n)
		}
	})
}

// A process is killed while it waits for the bucket to complete an upload, and
// the bucket completes it after the next process has listed the files.
func TestCompletedBehindTheListing(t *testing.T) {
	t.Parallel()
	bucket := s3test.New(t)
	to := bucket.Store(t, "m")
	h := hubtest.New(t, hubtest.Options{}, light())
	mustRun(t, config(t, h, to))
	if err := to.Remove(t.Context(), names.Manifest); err != nil {
		t.Fatal(err)
	}
	h.Forget()
	mustRun(t, config(t, h, &unlisted{to}))
	verify(t, to, light())
	if n := rangesOf(h, large); n != 0 {
		t.Errorf("%d ranges of a file that is there, want none", n)
	}
	if n := bucket.Uploads(t); n != 0 {
		t.Errorf("%d unfinished uploads are left", n)
	}
}

// unlisted is a store with objects that its listing does not show yet.
type unlisted struct{ objectstore.Store }

func (*unlisted) List(context.Context, string) ([]objectstore.Object, error) { return nil, nil }

func TestStaleUploadsGo(t *testing.T) {
	t.Parallel()
	bucket := s3test.New(t)
	to := bucket.Store(t, "m")
	h := hubtest.New(t, hubtest.Options{}, repo())
	interrupt(t, config(t, h, to), h, "model-00001")
	if bucket.Uploads(t) == 0 {
		t.Fatal("nothing was left unfinished")
	}
	h.Mend()
	cfg := config(t, h, to)
	cfg.Include = []string{"config.json"}
	mustRun(t, cfg)
	if n := bucket.Uploads(t); n != 0 {
		t.Errorf("%d unfinished uploads are left", n)
	}
}

func TestRefuses(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{}, repo())
	to := dirStore(t, t.TempDir())
	cases := map[string]func(*fetch.Config){
		"NoTarget":      func(c *fetch.Config) { c.To = nil },
		"NoHub":         func(c *fetch.Config) { c.Hub = nil },
		"NotAHub":       func(c *fetch.Config) { c.Ref = modelref.Ref{Scheme: modelref.S3, Bucket: "b"} },
		"SmallParts":    func(c *fetch.Config) { c.PartSize = 1 << 20 },
		"NegativeParts": func(c *fetch.Config) { c.PartSize = -1 },
		"EmptyPattern":  func(c *fetch.Config) { c.Include = []string{""} },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, h, to)
			change(&cfg)
			if _, err := fetch.Run(t.Context(), cfg); !fault.Is(err, fault.Invalid) {
				t.Errorf("Run = %v, want Invalid", err)
			}
		})
	}
}

// A repository may be a copy of a fetched folder.
func TestOwnFilesAreNotFetched(t *testing.T) {
	files := light()
	files[names.Manifest] = []byte("{}")
	files["koldun/x.json"] = []byte("{}")
	h := hubtest.New(t, hubtest.Options{}, files)
	to := dirStore(t, t.TempDir())
	mustRun(t, config(t, h, to))
	delete(files, names.Manifest)
	verify(t, to, files)
}

// A stopped fetch leaves no goroutine behind.
func TestNothingRunsOn(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{}, repo())
	h.Break(hubtest.Rule{Path: large, CDN: true, Do: hubtest.Stall(1000)})
	cfg := config(t, h, dirStore(t, t.TempDir()))
	cfg.Stall = time.Hour
	cfg.Progress = func(progress.Report) {}
	stacks := func() string {
		buf := make([]byte, 1<<20)
		return string(buf[:runtime.Stack(buf, true)])
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := fetch.Run(ctx, cfg)
		done <- err
	}()
	waittest.Until(t, "a range is asked for", func() bool { return rangesOf(h, large) > 0 })
	cancel()
	if err := waittest.Receive(t, "the fetch ends", done); !fault.Is(err, fault.Interrupted) {
		t.Errorf("Run = %v", err)
	}
	if s := stacks(); strings.Contains(s, "koldun/internal/artifact/fetch.(*") {
		t.Errorf("something of the fetch still runs:\n%s", s)
	}
}
