package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/time/rate"

	"github.com/gorizond/koldun/internal/artifact/hub/hubserver"
)

const (
	slowName = "koldun-slow"
	// slowSize in bytes, and slowRate in bytes per second of all connections, make its
	// download take a quarter of a minute: time to disturb it.
	slowSize = 48 << 20
	slowRate = 2 << 20
	// sentPath is where the bytes sent of the model are counted.
	sentPath = "/sent/" + slowName
)

// A slow hub serves one model of random bytes.
type slow struct {
	hub  *hubserver.Server
	rate *rate.Limiter
	sent atomic.Int64
}

// newSlow writes the model into a folder.
func newSlow(dir string) (*slow, error) {
	weights := make([]byte, slowSize)
	_, _ = rand.NewChaCha8([32]byte{}).Read(weights) // never fails
	model := filepath.Join(dir, slowName)
	if err := os.MkdirAll(model, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(model, "model.gguf"), weights, 0o600); err != nil {
		return nil, err
	}
	hub, err := hubserver.New(hubserver.Config{Dir: dir})
	if err != nil {
		return nil, err
	}
	return &slow{hub: hub, rate: rate.NewLimiter(slowRate, 64<<10)}, nil
}

func (s *slow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == sentPath {
		_, _ = fmt.Fprint(w, s.sent.Load())
		return
	}
	s.hub.ServeHTTP(&slowWriter{ResponseWriter: w, slow: s, ctx: r.Context()}, r)
}

// A slowWriter writes an answer within the rate.
type slowWriter struct {
	http.ResponseWriter
	*slow
	ctx context.Context //nolint:containedctx // that of the request
}

func (w *slowWriter) Write(b []byte) (written int, err error) {
	for len(b) > 0 && err == nil {
		n := min(len(b), w.rate.Burst())
		if err = w.rate.WaitN(w.ctx, n); err != nil {
			break
		}
		n, err = w.ResponseWriter.Write(b[:n])
		w.sent.Add(int64(n))
		written, b = written+n, b[n:]
	}
	return written, err
}
