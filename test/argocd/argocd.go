package argocd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/waittest"
)

// startWithin is the time limit for the start of Argo CD, which takes some seconds on an
// idle machine.
const startWithin = 3 * time.Minute

// errMissing is the error for a program that this machine lacks.
var errMissing = errors.New("the program is missing") //nolint:gochecknoglobals // a sentinel

// An ArgoCD is an Argo CD that runs until its test ends.
type ArgoCD struct {
	*cluster.Cluster

	root string // the repository, whose bin/ has the programs
	dir  string // for data
	runs []*cluster.Process
}

// Start installs Argo CD into the namespace "argocd" of a cluster and runs it. What it
// installs stays in the cluster. A test is skipped if programs are missing, or fails if
// clusters are required.
func Start(t testing.TB, c *cluster.Cluster) *ArgoCD {
	t.Helper()
	root, err := cluster.Repository()
	if err != nil {
		t.Fatal(err)
	}
	a := &ArgoCD{Cluster: c, root: root, dir: t.TempDir()}
	t.Cleanup(a.stop) // before the folder for data is removed
	err = a.start(t.Context())
	if errors.Is(err, errMissing) {
		cluster.Missing(t, "Argo CD", "make bin/argocd; apt-get install git redis-server")
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *ArgoCD) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(startWithin))
	defer cancel()
	if err := a.install(ctx); err != nil {
		return fmt.Errorf("cannot install Argo CD: %w", err)
	}
	if err := a.run(ctx); err != nil {
		return fmt.Errorf("cannot start Argo CD: %w", err)
	}
	return nil
}

// run runs the programs, and returns when all are ready.
func (a *ArgoCD) run(ctx context.Context) error {
	programs := filepath.Join(a.root, "bin", "argocd.d", "bin")
	env, err := a.env(programs)
	if err != nil {
		return err
	}
	free, err := cluster.Ports(5)
	if err != nil {
		return err
	}
	redis, repo := loopback(free[0]), loopback(free[1])
	if err := a.program(env, "redis-server", "redis-server", "--port", strconv.Itoa(free[0]), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", a.dir); err != nil {
		return err
	}
	// The default of --client-ca-path contradicts --disable-tls.
	if err := a.program(env, "argocd-repo-server", filepath.Join(programs, "argocd-repo-server"), "--address=127.0.0.1", "--port="+strconv.Itoa(free[1]),
		"--metrics-address=127.0.0.1", "--metrics-port="+strconv.Itoa(free[2]), "--redis="+redis, "--disable-tls", "--client-ca-path="); err != nil {
		return err
	}
	// --persist-resource-health keeps the health of each object, and its message, in the
	// status of the Application.
	if err := a.program(env, "argocd-application-controller", filepath.Join(programs, "argocd-application-controller"), "--namespace="+Namespace, "--redis="+redis,
		"--repo-server="+repo, "--repo-server-plaintext", "--metrics-port="+strconv.Itoa(free[3]), "--app-resync=30", "--app-resync-jitter=0",
		"--persist-resource-health"); err != nil {
		return err
	}
	for name, url := range map[string]string{
		"argocd-repo-server":            "http://" + loopback(free[2]) + "/metrics",
		"argocd-application-controller": "http://" + loopback(free[3]) + "/healthz",
	} {
		if err := a.Await(ctx, name, check(url)); err != nil {
			return err
		}
	}
	return nil
}

// stop ends the programs.
func (a *ArgoCD) stop() {
	for _, p := range slices.Backward(a.runs) {
		p.Stop()
	}
}

// env returns the variables that the programs add to those of this process. They keep their data in the folder of a.
func (a *ArgoCD) env(programs string) ([]string, error) {
	env := []string{"PATH=" + programs + string(os.PathListSeparator) + os.Getenv("PATH"), "KUBECONFIG=" + a.Kubeconfig(),
		"ARGOCD_FAKE_IN_CLUSTER=true", // https://kubernetes.default.svc is the cluster of KUBECONFIG
		"ARGOCD_GPG_ENABLED=false"}
	for _, name := range []string{"ARGOCD_TLS_DATA_PATH", "ARGOCD_SSH_DATA_PATH", "ARGOCD_GNUPGHOME", "ARGOCD_GPG_DATA_PATH", "ARGOCD_PLUGINSOCKFILEPATH", "TMPDIR"} {
		folder := filepath.Join(a.dir, strings.ToLower(name))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("cannot make folder: %w", err)
		}
		env = append(env, name+"="+folder)
	}
	hosts := filepath.Join(a.dir, "argocd_ssh_data_path", "ssh_known_hosts")
	if err := os.WriteFile(hosts, nil, 0o600); err != nil {
		return nil, fmt.Errorf("cannot write known hosts: %w", err)
	}
	return env, nil
}

// program starts a program.
func (a *ArgoCD) program(env []string, name, file string, args ...string) error {
	path, err := exec.LookPath(file)
	if err != nil {
		return fmt.Errorf("%w: %w", errMissing, err)
	}
	p, err := a.Run(name, path, env, args...)
	if err == nil {
		a.runs = append(a.runs, p)
	}
	return err
}

// check returns a check that a URL answers.
func check(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		rsp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = rsp.Body.Close() }()
		if rsp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, rsp.Status)
		}
		return nil
	}
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
