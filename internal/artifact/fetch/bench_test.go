package fetch_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/internal/artifact/fetch"
	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/model/modelref"
)

const (
	benchSize        = 256 << 20
	benchPart        = 8 << 20
	benchConcurrency = 8
)

// bigRepo is a hub whose repository has one file of n bytes.
func bigRepo(tb testing.TB, n int64) *hubtest.Hub {
	tb.Helper()
	return sparseRepo(tb, map[string]int64{"model.safetensors": n})
}

// sparseRepo is a hub whose repository has files of these sizes in bytes.
func sparseRepo(tb testing.TB, sizes map[string]int64) *hubtest.Hub {
	tb.Helper()
	dir := tb.TempDir() + "/model"
	hubtest.Write(tb, dir+"/config.json", []byte("{}"))
	for name, n := range sizes {
		hubtest.Write(tb, dir+"/"+name, []byte("begin of "+name))
		if err := os.Truncate(dir+"/"+name, n); err != nil {
			tb.Fatal(err)
		}
	}
	return hubtest.NewDir(tb, hubtest.Options{}, dir)
}

// BenchmarkHubToS3 compares a fetch with a copy by the same means that checks
// nothing and keeps no record, and with rclone where there is one. One file is
// the hardest case: its SHA-256 is one chain of computation, and where more
// processes want the machine than it has cores, the copy waits for it. Large
// models come in several files, whose digests are computed at once.
func BenchmarkHubToS3(b *testing.B) {
	b.Run("OneFile", func(b *testing.B) {
		hubToS3(b, map[string]int64{"model.safetensors": benchSize})
	})
	b.Run("FourFiles", func(b *testing.B) {
		sizes := map[string]int64{}
		for i := range 4 {
			sizes[fmt.Sprintf("model-%05d-of-00004.safetensors", i+1)] = benchSize / 4
		}
		hubToS3(b, sizes)
	})
}

func hubToS3(b *testing.B, sizes map[string]int64) {
	b.Helper()
	h := sparseRepo(b, sizes)
	client, err := hub.New(hub.Config{Endpoint: h.URL})
	if err != nil {
		b.Fatal(err)
	}
	bucket := s3test.New(b)
	ways := []way{
		{"unverified", func(to objectstore.Store) error { return unverified(b.Context(), client, h, sizes, to) }},
		{"fetch", func(to objectstore.Store) error {
			_, err := fetch.Run(b.Context(), fetch.Config{
				Hub: client, To: to,
				Ref:     modelref.Ref{Scheme: modelref.Hub, Repo: h.Repo, Revision: h.Commit()},
				Options: fetch.Options{PartSize: benchPart, Concurrency: benchConcurrency},
			})
			return err
		}},
	}
	if len(sizes) == 1 {
		if run := rcloneCopy(b, h, bucket); run != nil {
			ways = append(ways, way{"rclone", run})
		}
	}
	took := map[string][]time.Duration{}
	for i := 0; b.Loop(); i++ {
		for j := range ways { // in turn, and not always the same one first
			way := ways[(i+j)%len(ways)]
			to := bucket.Store(b, fmt.Sprintf("%s/%d", way.name, i))
			began := time.Now()
			if err := way.run(to); err != nil {
				b.Fatal(err)
			}
			took[way.name] = append(took[way.name], time.Since(began))
			clean(b, to)
		}
	}
	var percent []float64
	for i, d := range took["fetch"] {
		percent = append(percent, 100*took["unverified"][i].Seconds()/d.Seconds())
	}
	b.ReportMetric(0, "ns/op") // of all ways together, which says nothing
	b.ReportMetric(median(percent), "%-of-unverified")
	for _, way := range ways {
		b.ReportMetric(benchSize/1e6/median(took[way.name]).Seconds(), way.name+"-MB/s")
		b.ReportMetric(benchSize/1e6/slices.Min(took[way.name]).Seconds(), way.name+"-best-MB/s")
	}
}

// A way brings the files of the hub to a store.
type way struct {
	name string
	run  func(to objectstore.Store) error
}

// median: other work on the machine slows single runs down by any factor.
func median[T cmp.Ordered](of []T) T { return slices.Sorted(slices.Values(of))[len(of)/2] }

func clean(b *testing.B, to objectstore.Store) {
	b.Helper()
	list, err := to.List(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	for _, o := range list {
		if err := to.Remove(b.Context(), o.Name); err != nil {
			b.Fatal(err)
		}
	}
}

// unverified copies all files at once.
func unverified(ctx context.Context, client *hub.Client, h *hubtest.Hub, sizes map[string]int64, to objectstore.Store) error {
	free := make(chan []byte, benchConcurrency)
	for range benchConcurrency {
		free <- make([]byte, benchPart)
	}
	g, ctx := errgroup.WithContext(ctx)
	for name, size := range sizes {
		g.Go(func() error { return unverifiedFile(ctx, client, h, name, size, to, free) })
	}
	return g.Wait()
}

func unverifiedFile(ctx context.Context, client *hub.Client, h *hubtest.Hub, name string, size int64, to objectstore.Store, free chan []byte) error {
	o := objectstore.UploadOptions{Size: size, PartSize: benchPart, Token: "unverified"}
	up, err := to.Upload(ctx, name, o)
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(benchConcurrency)
	for n := 1; n <= o.Parts(); n++ {
		g.Go(func() error {
			buf := <-free
			defer func() { free <- buf }()
			part := buf[:o.PartLen(n)]
			r, err := client.Open(gctx, h.Repo, h.Commit(), name, int64(n-1)*benchPart, int64(len(part)))
			if err != nil {
				return err
			}
			defer func() { _ = r.Close() }()
			if _, err := io.ReadFull(r, part); err != nil {
				return err
			}
			return up.WritePart(gctx, n, part)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	_, err = up.Complete(ctx)
	return err
}

// BenchmarkS3ToDir is what the init container of a root does.
func BenchmarkS3ToDir(b *testing.B) {
	h := bigRepo(b, benchSize)
	client, err := hub.New(hub.Config{Endpoint: h.URL})
	if err != nil {
		b.Fatal(err)
	}
	from := s3test.New(b).Store(b, "m")
	_, err = fetch.Run(b.Context(), fetch.Config{Hub: client, Ref: modelref.Ref{Scheme: modelref.Hub, Repo: h.Repo}, To: from})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(benchSize)
	for b.Loop() {
		b.StopTimer()
		to := dirStore(b, b.TempDir())
		b.StartTimer()
		if _, err := fetch.Copy(b.Context(), fetch.CopyConfig{From: from, To: to}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNothingToDo is a run over a whole target.
func BenchmarkNothingToDo(b *testing.B) {
	h := hubtest.New(b, hubtest.Options{}, repo())
	cfg := config(b, h, s3test.New(b).Store(b, "m"))
	mustRun(b, cfg)
	for b.Loop() {
		mustRun(b, cfg)
	}
}
