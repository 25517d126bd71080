package cluster

import (
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

// Kubectl runs kubectl as the cluster's administrator.
func (c *Cluster) Kubectl(t testing.TB, args ...string) {
	t.Helper()
	program := filepath.Join(c.bin, "kubectl")
	if _, err := os.Stat(program); err != nil {
		Missing(t, "kubectl", "make bin/kubectl")
	}
	args = append([]string{"--kubeconfig", c.Kubeconfig()}, args...)
	if out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput(); err != nil {
		t.Fatalf("cannot run kubectl %q: %v: %s", args, err, out)
	}
}
