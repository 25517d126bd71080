package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// writeKubeconfig writes a kubeconfig that authenticates with token.
func writeKubeconfig(path string, cfg *rest.Config, token string) error {
	const name = "cluster"
	k := api.NewConfig()
	k.Clusters[name] = &api.Cluster{Server: cfg.Host, CertificateAuthorityData: cfg.CAData}
	k.AuthInfos[name] = &api.AuthInfo{Token: token}
	k.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	k.CurrentContext = name
	raw, err := clientcmd.Write(*k)
	if err != nil {
		return fmt.Errorf("cannot encode kubeconfig: %w", err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return fmt.Errorf("cannot write kubeconfig: %w", err)
	}
	return nil
}

// Kubectl runs kubectl as the cluster's administrator, and returns what it prints. A
// failure of kubectl fails the test.
func (c *connection) Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	if _, err := os.Stat(c.kubectl()); err != nil {
		Missing(t, "kubectl", "make bin/kubectl")
	}
	out, err := c.RunKubectl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// RunKubectl is like Kubectl, and returns a failure with what kubectl says of it.
func (c *connection) RunKubectl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.kubectl(), append([]string{"--kubeconfig", c.Kubeconfig()}, args...)...)
	// Without a cache, which may be older than CRDs: kubectl would leave out kinds of a category.
	cmd.Env = append(os.Environ(), "KUBECACHEDIR="+os.DevNull)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("cannot run kubectl %q: %w: %s", args, err, bytes.TrimSpace(errs.Bytes()))
	}
	return out.String(), nil
}

// kubectl returns the path of the program.
func (c *connection) kubectl() string { return filepath.Join(c.bin, "kubectl") }
