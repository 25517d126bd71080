package manager_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/waittest"
	"github.com/gorizond/koldun/provider/kinds"
	"github.com/gorizond/koldun/provider/manager"
	"github.com/gorizond/koldun/test/cluster"
)

var shared = cluster.Shared{Options: cluster.Options{ControlPlaneOnly: true}}

func TestMain(m *testing.M) {
	code := s3test.Run(m)
	provider.end()
	shared.Stop()
	os.Exit(code)
}

// provider is the one that most tests use, started by the first of them.
var provider one

type one struct {
	once    sync.Once
	manager *manager.Manager
	stop    func()
	err     error
}

func (o *one) end() {
	if o.stop != nil {
		o.stop()
	}
}

// start a provider on the shared cluster, as its binary does, but polling often.
func (o *one) start(t *testing.T) {
	t.Helper()
	c := shared.Cluster(t)
	o.once.Do(func() {
		if o.err = c.Apply(t.Context(), definitions(t)...); o.err != nil {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		o.manager, o.err = manager.New(ctx, c.Config(), manager.Options{
			Log: logging.NewNopLogger(), Kinds: kinds.All(nodes(c)), PollInterval: time.Hour, MaxReconciles: 100, Metrics: "0",
		})
		if o.err != nil {
			cancel()
			return
		}
		ended := make(chan error, 1)
		go func() { ended <- o.manager.Start(ctx) }()
		o.stop = func() {
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
	if o.err != nil {
		t.Fatal(o.err)
	}
}

// definitions are the CRDs of the managed resources.
func definitions(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../../apis/crds/koldun.m.gorizond.io_*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("cannot find CRDs: %v", err)
	}
	var out []string
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(raw))
	}
	return out
}

func contains(s, part string) bool { return strings.Contains(s, part) }

func nodes(c *cluster.Cluster) typedcorev1.NodeInterface {
	return typedcorev1.NewForConfigOrDie(c.Config()).Nodes()
}
