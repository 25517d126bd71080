package fetch_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/fetch"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	dirstore "github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/names"
)

// folder returns the path of a new folder and a store for it.
func folder(t *testing.T) (string, objectstore.Store) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "org", "repo")
	to, err := dirstore.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, to
}

// reads counts the downloads of the large file since the last call.
func reads(h *hubtest.Hub) int {
	n := 0
	for _, r := range h.Requests() {
		if strings.HasSuffix(r.Path, large) {
			n++
		}
	}
	h.Forget()
	return n
}

// TestReloadDownloadsAgain: a new request downloads files that the folder has, and the
// same request does so once.
func TestReloadDownloadsAgain(t *testing.T) {
	_, to := folder(t)
	h := hubtest.New(t, hubtest.Options{}, light())
	cfg := config(t, h, to)
	mustRun(t, cfg)
	h.Forget()
	for _, c := range []struct {
		reload string
		again  bool
	}{{"", false}, {"a", true}, {"a", false}, {"b", true}, {"b", false}} {
		cfg.Reload = c.reload
		if m := mustRun(t, cfg); m.Origin.Reload != c.reload {
			t.Errorf("the manifest is of request %q, want %q", m.Origin.Reload, c.reload)
		}
		if n := reads(h); (n > 0) != c.again {
			t.Errorf("request %q reads the large file %d times", c.reload, n)
		}
		verify(t, to, light())
	}
}

// TestReloadContinues: a request that was interrupted does not begin anew, and what
// the folder had before does not count.
func TestReloadContinues(t *testing.T) {
	_, to := folder(t)
	h := hubtest.New(t, hubtest.Options{}, repo())
	cfg := config(t, h, to)
	mustRun(t, cfg)
	cfg.Reload = "a"
	interrupt(t, cfg, h, "model-00001")
	h.Mend()
	h.Forget()
	mustRun(t, cfg)
	verify(t, to, chosen(repo()))
	if n := rangesOf(h, "model-00001"); n != 1 {
		t.Errorf("%d ranges after the interruption, want 1: %+v", n, h.Requests())
	}
}

// TestH5HalfAFolderIsNotComplete: hf-operator took a folder with files for a model.
func TestH5HalfAFolderIsNotComplete(t *testing.T) {
	path, to := folder(t)
	h := hubtest.New(t, hubtest.Options{}, repo())
	cfg := config(t, h, to)
	interrupt(t, cfg, h, "model-00001")
	if _, err := os.Stat(filepath.Join(path, "model-00001-of-00002.safetensors")); !os.IsNotExist(err) {
		t.Errorf("half of a file is visible: %v", err)
	}
	h.Mend()
	mustRun(t, cfg)
	verify(t, to, chosen(repo()))
}

// TestH10FolderHoldsEachFileOnce: hf-operator kept a second copy in .git.
func TestH10FolderHoldsEachFileOnce(t *testing.T) {
	path, to := folder(t)
	h := hubtest.New(t, hubtest.Options{}, light())
	m := mustRun(t, config(t, h, to))
	var all int64
	err := filepath.WalkDir(path, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil && e.Name() != names.Manifest && !strings.Contains(name, objectstore.WorkDir) {
			all += info.Size()
		}
		if err == nil && strings.Contains(name, objectstore.WorkDir) && info.Size() > 1000 {
			t.Errorf("file %s of %d bytes stays", name, info.Size())
		}
		return err
	})
	if err != nil || all != m.Size() {
		t.Errorf("the folder has %d bytes, and the model %d: %v", all, m.Size(), err)
	}
}

// TestH8OneWriterAtATime: a second fetch waits for the first, and finds what it made.
func TestH8OneWriterAtATime(t *testing.T) {
	_, to := folder(t)
	h := hubtest.New(t, hubtest.Options{}, light())
	unlock, err := to.(objectstore.Locker).TryLock(t.Context())
	if err != nil || unlock == nil {
		t.Fatalf("cannot lock: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fetch.Run(ctx, config(t, h, to)); err == nil {
		t.Fatal("a fetch does not wait for the lock")
	}
	noManifest(t, to)
	unlock()
	mustRun(t, config(t, h, to))
	verify(t, to, light())
}
