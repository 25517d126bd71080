package argocd_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/hub/hubserver"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/argocd"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// storyEnv enables TestArgoCD, which takes minutes.
const storyEnv = "KOLDUN_ARGOCD"

// TestMain can also run this binary as the S3 gateway.
func TestMain(m *testing.M) { os.Exit(s3test.Run(m)) }

// TestArgoCD runs the story on the test control plane, where the Application installs Koldun's
// packages as well.
func TestArgoCD(t *testing.T) {
	if os.Getenv(storyEnv) == "" {
		t.Skip("takes minutes; run: make e2e-argocd")
	}
	root, err := cluster.Repository()
	if err != nil {
		t.Fatal(err)
	}
	c := cluster.Start(t, cluster.Options{})
	s := services(t, root)
	// Without services: the ClusterProviderConfig is the Application's.
	p, err := platform.Start(t.Context(), c, root, t.TempDir(), platform.Services{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Log(p.Node.Logs())
		}
	})
	install, err := os.ReadFile(filepath.Join(root, "examples", "argocd", "app", "packages", "install.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	argocd.Story(t, argocd.Setup{
		Cluster: c, Install: string(install), Services: s, HTTP: p.Node.HTTP(),
		Tell: func(format string, args ...any) {
			fmt.Printf("%4.0fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
		},
	})
}

// services runs NATS in operator mode, an object store and a hub until the test ends.
func services(t *testing.T, root string) platform.Services {
	t.Helper()
	nats, s3 := natstest.StartOperator(t), s3test.Start(t, t.TempDir(), "")
	hub, err := hubserver.New(hubserver.Config{Dir: filepath.Join(root, "examples", "models")})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(hub)
	t.Cleanup(func() {
		server.Close()
		_ = hub.Close()
	})
	return platform.Services{
		NATS: bus.Config{URL: nats.URL()}, Operator: nats.OperatorSecret(),
		S3: s3.Config(), Hub: server.URL,
	}
}
