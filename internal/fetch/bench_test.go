package fetch_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/fetch"
	"github.com/gorizond/koldun/internal/hub"
	"github.com/gorizond/koldun/internal/hub/hubtest"
	"github.com/gorizond/koldun/internal/modelref"
	"github.com/gorizond/koldun/internal/objectstore"
)

const (
	benchSize        = 256 << 20
	benchPart        = 8 << 20
	benchConcurrency = 8
)

// bigRepo is a hub whose repository has one file of n bytes.
func bigRepo(tb testing.TB, n int64) *hubtest.Hub {
	tb.Helper()
	dir := tb.TempDir() + "/model"
	hubtest.Write(tb, dir+"/config.json", []byte("{}"))
	hubtest.Write(tb, dir+"/model.safetensors", []byte("begin"))
	if err := os.Truncate(dir+"/model.safetensors", n); err != nil {
		tb.Fatal(err)
	}
	return hubtest.NewDir(tb, hubtest.Options{}, dir)
}

// BenchmarkHubToS3 compares a fetch with a copy by the same means that checks
// nothing and keeps no record.
func BenchmarkHubToS3(b *testing.B) {
	h := bigRepo(b, benchSize)
	client, err := hub.New(hub.Config{Endpoint: h.URL})
	if err != nil {
		b.Fatal(err)
	}
	bucket := s3test.New(b)
	ways := []struct {
		name string
		run  func(to objectstore.Store) error
	}{
		{"Unverified", func(to objectstore.Store) error { return unverified(b.Context(), client, h, to) }},
		{"Fetch", func(to objectstore.Store) error {
			_, err := fetch.Run(b.Context(), fetch.Config{
				Hub: client, To: to,
				Ref:     modelref.Ref{Scheme: modelref.Hub, Repo: h.Repo, Revision: h.Commit()},
				Options: fetch.Options{PartSize: benchPart, Concurrency: benchConcurrency},
			})
			return err
		}},
	}
	took := map[string][]time.Duration{}
	for i := 0; b.Loop(); i++ {
		for _, way := range ways { // in turn, so that both see the same machine
			to := bucket.Store(b, fmt.Sprintf("%s/%d", way.name, i))
			began := time.Now()
			if err := way.run(to); err != nil {
				b.Fatal(err)
			}
			took[way.name] = append(took[way.name], time.Since(began))
			clean(b, to)
		}
	}
	b.ReportMetric(rate(took["Unverified"]), "unverified-MB/s")
	b.ReportMetric(rate(took["Fetch"]), "fetch-MB/s")
	b.ReportMetric(100*rate(took["Fetch"])/rate(took["Unverified"]), "%-of-unverified")
	b.ReportMetric(0, "ns/op") // of both ways together, which says nothing
}

// rate is that of the median run.
func rate(took []time.Duration) float64 {
	slices.Sort(took)
	return benchSize / 1e6 / took[len(took)/2].Seconds()
}

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

func unverified(ctx context.Context, client *hub.Client, h *hubtest.Hub, to objectstore.Store) error {
	o := objectstore.UploadOptions{Size: benchSize, PartSize: benchPart, Token: "unverified"}
	up, err := to.Upload(ctx, "model.safetensors", o)
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(benchConcurrency)
	free := make(chan []byte, benchConcurrency)
	for range benchConcurrency {
		free <- make([]byte, benchPart)
	}
	for n := 1; n <= o.Parts(); n++ {
		g.Go(func() error {
			buf := <-free
			defer func() { free <- buf }()
			part := buf[:o.PartLen(n)]
			r, err := client.Open(gctx, h.Repo, h.Commit(), "model.safetensors", int64(n-1)*benchPart, int64(len(part)))
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
