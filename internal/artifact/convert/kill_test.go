package convert_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	dirstore "github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/artifact/objectstore/storeurl"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/waittest"
)

// fromEnv and toEnv make a process of this test binary run a conversion.
const (
	fromEnv = "KOLDUN_CONVERT_TEST_FROM"
	toEnv   = "KOLDUN_CONVERT_TEST_TO"
)

func TestMain(m *testing.M) {
	var err error
	switch from := os.Getenv(fromEnv); {
	case from != "":
		err = convertOnce(from, os.Getenv(toEnv))
	case os.Getenv(memoryEnv) != "":
		err = measureMemory()
	default:
		s3test.Main(m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(fault.ExitCode(err))
}

func convertOnce(from, to string) error {
	ctx := context.Background()
	cfg := s3.ConfigFromEnv(os.Getenv)
	src, err := storeurl.Open(ctx, from, cfg)
	if err != nil {
		return err
	}
	dst, err := storeurl.Open(ctx, to, cfg)
	if err != nil {
		return err
	}
	_, err = convert.Run(ctx, convert.Config{From: src, To: dst, Name: "m", Weights: topology.Q40, Only: convert.Model, PartSize: 5 << 20})
	return err
}

var killCount = flag.Int("kills", 6, "how often TestKilled kills a conversion into a folder")

// TestKilled kills conversions at random moments, between folders and between
// prefixes of a real S3 gateway. After each kill a manifest exists only together
// with the bytes it lists. Each conversion that completes writes the right bytes
// and leaves nothing unfinished.
func TestKilled(t *testing.T) {
	kills := *killCount
	if testing.Short() {
		kills = min(kills, 6)
	}
	dir := t.TempDir()
	writeLargeModel(t, dir, largeModel{dim: 1024, hidden: 2816, layers: 2, heads: 16, vocab: 4000})
	want := referenceDigest(t, dir)

	t.Run("Folder", func(t *testing.T) {
		root := t.TempDir()
		killer{
			t: t, kills: kills, want: want, from: dir,
			target: func(n int) (string, objectstore.Store) {
				path := fmt.Sprintf("%s/%d", root, n)
				s, err := dirstore.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				return path, s
			},
		}.run()
	})
	t.Run("S3", func(t *testing.T) {
		bucket := s3test.New(t)
		source := bucket.Store(t, "source")
		copyFolder(t, dir, source)
		killer{
			t: t, kills: (kills + 1) / 2, want: want, from: source.URL(),
			env: []string{
				names.EnvS3Endpoint + "=" + bucket.Config.Endpoint, names.EnvS3Region + "=" + bucket.Config.Region,
				names.EnvS3AccessKey + "=" + bucket.Config.AccessKey, names.EnvS3SecretKey + "=" + bucket.Config.SecretKey,
			},
			target: func(n int) (string, objectstore.Store) {
				s := bucket.Store(t, fmt.Sprint("target/", n))
				return s.URL(), s
			},
		}.run()
		if n := bucket.Uploads(t); n != 0 {
			t.Errorf("%d uploads are unfinished", n)
		}
	})
}

type killer struct {
	t      *testing.T
	kills  int
	want   string // digest of the expected file, hex
	from   string
	env    []string
	target func(n int) (url string, s objectstore.Store) // a new one for each n
}

func (k killer) run() {
	k.t.Helper()
	rng := rand.New(rand.NewPCG(21, 22))
	begin := time.Now()
	url, store := k.target(0)
	k.child(url, whole)
	k.check(store, true)
	usual := time.Since(begin)
	killed := 0
	for n := 1; killed < k.kills; n++ {
		url, store := k.target(n)
		for range 10 {
			if k.child(url, time.Duration(rng.Float64()*1.1*float64(usual))) {
				break
			}
			killed++
			k.check(store, false)
		}
		k.child(url, whole)
		k.check(store, true)
	}
}

// whole limits the time of an undisturbed conversion.
var whole = waittest.Limit(5 * time.Minute)

// child runs a conversion and reports whether it completed before it was killed.
func (k killer) child(url string, life time.Duration) bool {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), life)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), append(k.env, fromEnv+"="+k.from, toEnv+"="+url)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if err == nil {
		return true
	}
	if ctx.Err() == nil || life == whole {
		k.t.Fatalf("conversion ended with %v: %s", err, stderr.String())
	}
	return false
}

// check compares the manifest with the bytes.
func (k killer) check(store objectstore.Store, whole bool) {
	k.t.Helper()
	ctx := k.t.Context()
	raw, err := readObject(ctx, store, names.Manifest)
	if fault.Is(err, fault.NotFound) && !whole {
		return
	}
	if err != nil {
		k.t.Fatal(err)
	}
	m, err := manifest.Decode(raw)
	if err != nil {
		k.t.Fatal(err)
	}
	body, err := readObject(ctx, store, names.ModelFile("m", "q40"))
	if err != nil {
		k.t.Fatal(err)
	}
	sum := sha256.Sum256(body)
	f, _ := m.File(names.ModelFile("m", "q40"))
	if f.Size != int64(len(body)) || f.SHA256 != k.want || hex.EncodeToString(sum[:]) != k.want {
		k.t.Fatalf("the file has digest %x, the manifest lists %s, want %s", sum, f.SHA256, k.want)
	}
}

func readObject(ctx context.Context, s objectstore.Store, name string) ([]byte, error) {
	r, err := s.Open(ctx, name, 0, -1)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(r)
	return raw, errors.Join(err, r.Close())
}

// referenceDigest converts in one process, in one part, by one worker.
func referenceDigest(t *testing.T, dir string) string {
	t.Helper()
	to := newMemStore()
	m := run(t, convert.Config{From: loadStore(t, dir), To: to, Name: "m", Weights: topology.Q40, Only: convert.Model, Workers: 1, PartSize: 1 << 30})
	checkFile(t, to, m, names.ModelFile("m", "q40"))
	return m.Files[0].SHA256
}

func copyFolder(t *testing.T, dir string, to objectstore.Store) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(dir + "/" + e.Name())
		if err == nil {
			err = to.Put(t.Context(), e.Name(), raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
