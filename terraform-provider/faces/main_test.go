// Package faces proves that the Crossplane provider and the Terraform provider
// do the same: each case goes through both, against fresh servers, and what the
// servers hold afterwards is compared.
package faces

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/go-logr/logr"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gorizond/koldun/apis/crds"
	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/waittest"
	"github.com/gorizond/koldun/provider/kinds"
	"github.com/gorizond/koldun/provider/manager"
	"github.com/gorizond/koldun/test/cluster"
)

var (
	shared      = cluster.Shared{Options: cluster.Options{ControlPlaneOnly: true}}
	controllers running
)

func TestMain(m *testing.M) {
	code := s3test.Run(m)
	controllers.end()
	shared.Stop()
	os.Exit(code)
}

// running is the Crossplane provider, started by the first test that asks.
type running struct {
	once sync.Once
	stop func()
	err  error
}

func (r *running) end() {
	if r.stop != nil {
		r.stop()
	}
}

// start the provider's controllers, as its binary does, on the shared cluster.
func (r *running) start(t *testing.T) *cluster.Cluster {
	t.Helper()
	c := shared.Cluster(t)
	r.once.Do(func() {
		log.SetLogger(logr.Discard()) // or controller-runtime complains
		if r.err = c.Apply(t.Context(), definitions(t)...); r.err != nil {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		m, err := manager.New(ctx, c.Config(), manager.Options{
			Log: logging.NewNopLogger(), Kinds: kinds.All(typedcorev1.NewForConfigOrDie(c.Config()).Nodes()),
			PollInterval: time.Hour, MaxReconciles: 100, Metrics: "0",
		})
		if r.err = err; err != nil {
			cancel()
			return
		}
		ended := make(chan error, 1)
		go func() { ended <- m.Start(ctx) }()
		r.stop = func() {
			cancel()
			select {
			case err := <-ended:
				if err != nil {
					fmt.Fprintln(os.Stderr, "the provider ended with:", err)
				}
			case <-time.After(waittest.Patience):
				fmt.Fprintln(os.Stderr, "the provider does not end")
			}
		}
	})
	if r.err != nil {
		t.Fatal(r.err)
	}
	return c
}

// definitions are the CRDs of managed resources.
func definitions(t *testing.T) []string {
	t.Helper()
	files, err := fs.Glob(crds.Files, "koldun.m.gorizond.io_*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no CRDs: %v", err)
	}
	var out []string
	for _, name := range files {
		raw, err := fs.ReadFile(crds.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(raw))
	}
	return out
}
