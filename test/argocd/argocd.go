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

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
)

// startWithin is the time limit for the start of Argo CD, which takes some seconds on an
// idle machine.
const startWithin = 3 * time.Minute

// logLines is the number of lines of each program that a failed test prints.
const logLines = 60

// errMissing is the error for a program that this machine lacks.
var errMissing = errors.New("the program is missing") //nolint:gochecknoglobals // a sentinel

// Options configures Argo CD.
type Options struct {
	Root       string // the repository, whose bin/ has the programs
	Kubeconfig string // of an administrator of the cluster
	Dir        string // for data and logs; it exists
}

// An ArgoCD is a running Argo CD.
type ArgoCD struct {
	Client client.Client // of the administrator

	root, dir string
	processes []*cluster.Process
}

// Start installs Argo CD into the namespace "argocd" of a cluster and runs it, until Stop.
func Start(ctx context.Context, o Options) (*ArgoCD, error) {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	a := &ArgoCD{root: o.Root, dir: o.Dir}
	var err error
	if a.Client, err = newClient(o.Kubeconfig); err != nil {
		return nil, err
	}
	if err := a.install(ctx); err != nil {
		return nil, fmt.Errorf("cannot install Argo CD: %w", err)
	}
	if err := a.run(ctx, o.Kubeconfig); err != nil {
		a.Stop()
		return nil, fmt.Errorf("cannot start Argo CD: %w\n%s", err, a.Logs())
	}
	return a, nil
}

// StartTest starts Argo CD for a test, which prints the logs if it fails. It skips the test
// if programs are missing, or fails it if clusters are required.
func StartTest(t testing.TB, o Options) *ArgoCD {
	t.Helper()
	a, err := Start(t.Context(), o)
	if errors.Is(err, errMissing) {
		cluster.Missing(t, "Argo CD", "make bin/argocd; apt-get install git redis-server")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.Stop()
		if t.Failed() {
			t.Log(a.Logs())
		}
	})
	return a
}

// Stop stops Argo CD. What it has installed stays in the cluster.
func (a *ArgoCD) Stop() {
	for _, p := range slices.Backward(a.processes) {
		p.Stop()
	}
}

// Logs returns the last lines of the programs' logs.
func (a *ArgoCD) Logs() string {
	files, _ := filepath.Glob(filepath.Join(a.dir, "*.log")) // the pattern is valid
	var b strings.Builder
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
		fmt.Fprintf(&b, "== %s\n%s\n", filepath.Base(path), strings.Join(lines[max(0, len(lines)-logLines):], "\n"))
	}
	return b.String()
}

// run runs the programs, and returns when all are ready.
func (a *ArgoCD) run(ctx context.Context, kubeconfig string) error {
	programs := filepath.Join(a.root, "bin", "argocd.d", "bin")
	env, err := a.env(programs, kubeconfig)
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
	for _, url := range []string{"http://" + loopback(free[2]) + "/metrics", "http://" + loopback(free[3]) + "/healthz"} {
		if err := a.await(ctx, url); err != nil {
			return err
		}
	}
	return nil
}

// env returns the variables of the programs. They keep their data in the folder of a.
func (a *ArgoCD) env(programs, kubeconfig string) ([]string, error) {
	env := append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"), "KUBECONFIG="+kubeconfig,
		"ARGOCD_FAKE_IN_CLUSTER=true", // https://kubernetes.default.svc is the cluster of KUBECONFIG
		"ARGOCD_GPG_ENABLED=false")
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
	p := cluster.NewProcess(name, path, filepath.Join(a.dir, name+".log"), env, args...)
	a.processes = append(a.processes, p)
	return p.Start()
}

// await waits until a URL answers, as long as all programs run.
func (a *ArgoCD) await(ctx context.Context, url string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	return cluster.Poll(ctx, func(ctx context.Context) error {
		for _, p := range a.processes {
			if err := p.Err(); err != nil {
				cancel(err)
			}
		}
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
	})
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
