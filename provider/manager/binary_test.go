package manager_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/test/cluster"
)

// start the provider as a process, until the test ends at the latest. What it
// wrote is shown if the test fails.
func start(tb testing.TB, c *cluster.Cluster, program string, args ...string) *exec.Cmd {
	tb.Helper()
	log, err := os.Create(filepath.Join(tb.TempDir(), "provider.log"))
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig(), "POD_NAMESPACE=default")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && tb.Failed() {
			tb.Logf("the provider wrote:\n%s", text)
		}
	})
	return cmd
}

// newClient is a client that knows our types.
func newClient(tb testing.TB, cfg *rest.Config) client.Client {
	tb.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, extv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			tb.Fatal(err)
		}
	}
	cl, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		tb.Fatal(err)
	}
	return cl
}
