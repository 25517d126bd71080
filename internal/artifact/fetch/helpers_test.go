package fetch_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/fetch"
	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	dirstore "github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/model/progress"
)

func TestMain(m *testing.M) {
	if os.Getenv(victimEnv) != "" {
		os.Exit(victim())
	}
	s3test.Main(m)
}

const part = 5 << 20 // the smallest part size

// content is n bytes that differ everywhere, the same for the same seed. They
// are not to be changed.
func content(n int, seed byte) []byte {
	type key struct {
		n    int
		seed byte
	}
	if b, ok := contents.Load(key{n, seed}); ok {
		return b.([]byte)
	}
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	contents.Store(key{n, seed}, b)
	return b
}

// contents remembers them: making them takes long under the race detector.
var contents sync.Map

// repo is a repository with files of all kinds: in LFS and not, of no, one and
// several parts.
func repo() map[string][]byte {
	return map[string][]byte{
		"config.json":                      []byte(`{"model_type":"llama"}`),
		"tokenizer.json":                   content(part+1000, 1), // not in LFS, two parts
		"tokenizer.model":                  content(3000, 2),
		"empty.txt":                        nil,
		"model-00001-of-00002.safetensors": content(3*part+17, 3),
		"model-00002-of-00002.safetensors": content(2*part, 4),
		"sub/dir/x.json":                   []byte("{}"),
		"pytorch_model.bin":                content(100, 5),
		"original/consolidated.pth":        content(100, 6),
		"original/params.json":             []byte("{}"),
		"consolidated.safetensors":         content(100, 7),
		"model.gguf":                       content(100, 8),
	}
}

// light is a repository that is quicker to bring.
func light() map[string][]byte {
	return map[string][]byte{
		"config.json":     []byte(`{"model_type":"llama"}`),
		"tokenizer.json":  content(part+1000, 1),
		"tokenizer.model": content(3000, 2),
		large:             content(part+17, 3),
	}
}

func isChosen(name string) bool {
	switch name {
	case "pytorch_model.bin", "original/consolidated.pth", "original/params.json", "consolidated.safetensors", "model.gguf":
		return false
	}
	return true
}

// impatient is a hub client that does not wait, so that tests end soon.
func impatient(t testing.TB, endpoint string) *hub.Client {
	t.Helper()
	var slept atomic.Int64
	c, err := hub.New(hub.Config{
		Endpoint: endpoint, Attempts: 3,
		Now: func() time.Time { return time.Now().Add(time.Duration(slept.Load())) },
		Sleep: func(ctx context.Context, d time.Duration) error {
			slept.Add(int64(d))
			return ctx.Err()
		},
		HTTP: &http.Client{Transport: &http.Transport{
			DialContext: (&net.Dialer{}).DialContext, ResponseHeaderTimeout: 2 * time.Second, MaxIdleConnsPerHost: 16,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func config(t testing.TB, h *hubtest.Hub, to objectstore.Store) fetch.Config {
	t.Helper()
	return fetch.Config{
		Hub: impatient(t, h.URL), Ref: modelref.Ref{Scheme: modelref.Hub, Repo: h.Repo}, To: to,
		Options: fetch.Options{PartSize: part, Concurrency: 4, Stall: 300 * time.Millisecond, Log: testLog(t)},
	}
}

// testLog shows the log of a test that fails.
func testLog(t testing.TB) *slog.Logger {
	var buf safeBuffer
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(buf.String())
		}
	})
	return slog.New(slog.NewTextHandler(&buf, nil))
}

type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// stores run a test with each kind of target.
func stores(t *testing.T, f func(t *testing.T, to objectstore.Store)) {
	t.Helper()
	t.Run("S3", func(t *testing.T) { f(t, s3test.New(t).Store(t, "models/m")) })
	t.Run("Dir", func(t *testing.T) { f(t, dirStore(t, t.TempDir())) })
}

func dirStore(t testing.TB, dir string) objectstore.Store {
	t.Helper()
	s, err := dirstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustRun(t testing.TB, cfg fetch.Config) manifest.Manifest {
	t.Helper()
	m, err := fetch.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// verify checks that a target has exactly these files, and a manifest of them.
func verify(t testing.TB, to objectstore.Store, want map[string][]byte) manifest.Manifest {
	t.Helper()
	m, _, err := manifest.Load(context.Background(), to)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Files) != len(want) {
		t.Errorf("the manifest has %d files, want %d", len(m.Files), len(want))
	}
	for _, f := range m.Files {
		body, ok := want[f.Path]
		sum := sha256.Sum256(body)
		if !ok || f.Size != int64(len(body)) || f.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("the manifest has %+v", f)
		}
		if !holds(t, to, f.Path, body) {
			t.Errorf("file %q differs", f.Path)
		}
	}
	list, err := to.List(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(want)+1 {
		t.Errorf("the target lists %v", list)
	}
	return m
}

func chosen(all map[string][]byte) map[string][]byte {
	m := map[string][]byte{}
	for name, body := range all {
		if isChosen(name) {
			m[name] = body
		}
	}
	return m
}

// holds reports whether a file has the content. It reads piece by piece: for whole files in
// memory the race detector takes most of the CPU time of these tests.
func holds(t testing.TB, s objectstore.Store, name string, want []byte) bool {
	t.Helper()
	r, err := s.Open(context.Background(), name, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	piece := make([]byte, 64<<10)
	for {
		n, err := r.Read(piece)
		if n > len(want) || !bytes.Equal(piece[:n], want[:n]) {
			return false
		}
		want = want[n:]
		if errors.Is(err, io.EOF) {
			return len(want) == 0
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func readAll(t testing.TB, s objectstore.Store, name string) []byte {
	t.Helper()
	r, err := s.Open(context.Background(), name, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func noManifest(t testing.TB, s objectstore.Store) {
	t.Helper()
	if _, _, err := manifest.Load(context.Background(), s); !fault.Is(err, fault.NotFound) {
		t.Errorf("a manifest is there after a failure (error %v)", err)
	}
}

// bytesFetched sums the ranges that the hub was asked for.
func rangesOf(h *hubtest.Hub, path string) int {
	n := 0
	for _, r := range h.Requests() {
		if r.Range != "" && r.Status == http.StatusPartialContent && strings.Contains(r.Path, path) {
			n++
		}
	}
	return n
}

// reports collects progress.
type reports struct {
	mu  sync.Mutex
	all []progress.Report
}

func (r *reports) add(p progress.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, p)
}

func (r *reports) last(t testing.TB) progress.Report {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) == 0 {
		t.Fatal("no report was made")
	}
	return r.all[len(r.all)-1]
}

// spy watches a store.
type spy struct {
	objectstore.Store
	saved func(name string, state []byte) // after SaveState
	wrote func(name string, number int)   // after WritePart
}

func (s *spy) Upload(ctx context.Context, name string, o objectstore.UploadOptions) (objectstore.Upload, error) {
	u, err := s.Store.Upload(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return &spyUpload{Upload: u, spy: s, name: name}, nil
}

type spyUpload struct {
	objectstore.Upload
	spy  *spy
	name string
}

func (u *spyUpload) SaveState(ctx context.Context, state []byte) error {
	err := u.Upload.SaveState(ctx, state)
	if err == nil && u.spy.saved != nil {
		u.spy.saved(u.name, state)
	}
	return err
}

func (u *spyUpload) WritePart(ctx context.Context, number int, body []byte) error {
	err := u.Upload.WritePart(ctx, number, body)
	if err == nil && u.spy.wrote != nil {
		u.spy.wrote(u.name, number)
	}
	return err
}

func withToken(t testing.TB, endpoint, token string) *hub.Client {
	t.Helper()
	c, err := hub.New(hub.Config{Endpoint: endpoint, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
