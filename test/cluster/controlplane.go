package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gorizond/koldun/test/waittest"
)

// controllers are the enabled controllers of kube-controller-manager: those that
// create and delete objects. There is no scheduler and no kubelet.
var controllers = []string{ //nolint:gochecknoglobals // a constant in all but syntax
	"clusterrole-aggregation-controller",
	"deployment-controller",
	"disruption-controller",
	"garbage-collector-controller",
	"job-controller",
	"namespace-controller",
	"replicaset-controller",
	"serviceaccount-controller",
	"statefulset-controller",
	// Without these two, volumes and claims to them are never deleted.
	"persistentvolume-protection-controller",
	"persistentvolumeclaim-protection-controller",
}

const (
	// serviceAddresses are the addresses of Services. The API server's own has the first.
	serviceAddresses  = "10.96.0.0/16"
	kubernetesService = "10.96.0.1"
	// usualPort is the port of the API server in most clusters.
	usualPort = 6443

	autoscalerController = "horizontal-pod-autoscaler-controller"
	// autoscalerPeriod is the time between two decisions of a HorizontalPodAutoscaler.
	autoscalerPeriod = time.Second
)

// start starts etcd, kube-apiserver and kube-controller-manager,
// and returns when the API server is ready.
func (cp *controlPlane) start(ctx context.Context, o Options) error {
	free, err := Ports(2)
	if err != nil {
		return err
	}
	etcdURL, apiPort := "http://"+loopback(free[0]), free[1]
	if o.NodeAddress != "" {
		apiPort = usualPort // which NetworkPolicies of pods that call the API server name
	}
	token := rand.Text()
	ca, err := cp.writeCredentials(token, o.NodeAddress)
	if err != nil {
		return fmt.Errorf("cannot write credentials of the control plane: %w", err)
	}
	cp.config = &rest.Config{
		Host:            "https://" + loopback(apiPort),
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: ca.pem},
		QPS:             -1, // no client-side limit
		WarningHandler:  rest.NoWarnings{},
	}
	kubeconfig := cp.dir.in("admin.kubeconfig")
	if err := writeKubeconfig(kubeconfig, cp.config, token); err != nil {
		return err
	}

	if err := cp.programs.start(etcd, etcd,
		"--data-dir="+cp.dir.in("etcd"),
		"--listen-client-urls="+etcdURL, "--advertise-client-urls="+etcdURL,
		"--listen-peer-urls=http://127.0.0.1:0",
		"--unsafe-no-fsync", "--log-level=warn",
	); err != nil {
		return err
	}
	if err := cp.programs.start(apiServer, apiServer, append(slices.Concat(cp.apiServerKeys(), listen(o.NodeAddress)),
		"--etcd-servers="+etcdURL,
		fmt.Sprintf("--secure-port=%d", apiPort),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-cluster-ip-range="+serviceAddresses,
		"--authorization-mode=RBAC",
		"--allow-privileged",
		"--enable-priority-and-fairness=false", // one user, and faster to start
		fmt.Sprintf("--profiling=%t", debugging()),
	)...); err != nil {
		return err
	}
	if err := cp.programs.awaitHTTP(ctx, apiServer, cp.config.Host+"/readyz"); err != nil {
		return err
	}
	enabled := controllers
	switch {
	case o.NodeAddress != "":
		enabled = []string{"*"}
	case o.Autoscaler:
		enabled = append(slices.Clone(enabled), autoscalerController)
	}
	cp.controllers = cp.programs.add(controllerManager, controllerManager, append(os.Environ(), collectLess()...),
		"--kubeconfig="+kubeconfig,
		"--service-account-private-key-file="+cp.dir.in("keys", "sa.key"),
		"--root-ca-file="+cp.dir.in("keys", caCert),
		"--controllers="+strings.Join(enabled, ","),
		"--leader-elect=false", "--secure-port=0", "--profiling=false",
		"--kube-api-qps=1000", "--kube-api-burst=1000",
		"--concurrent-gc-syncs=5",
		"--horizontal-pod-autoscaler-sync-period="+autoscalerPeriod.String(),
	)
	return cp.controllers.Start()
}

// listen returns the flags of the addresses of the API server.
func listen(nodeAddress string) []string {
	if nodeAddress != "" {
		return []string{"--bind-address=0.0.0.0", "--advertise-address=" + nodeAddress, "--kubelet-preferred-address-types=InternalIP"}
	}
	return []string{
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", // loopback cannot be an endpoint
	}
}

// writeCredentials writes the API server's certificate, the key of service
// account tokens, and the administrator's token.
func (cp *controlPlane) writeCredentials(token, nodeAddress string) (*authority, error) {
	ca, err := newAuthority("cluster")
	if err != nil {
		return nil, err
	}
	names := []string{"kubernetes.default.svc"}
	if nodeAddress != "" {
		names = append(names, nodeAddress, kubernetesService)
	}
	cert, key, err := ca.server(names...)
	if err != nil {
		return nil, err
	}
	sa, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	saKey, err := keyBlock(sa)
	if err != nil {
		return nil, err
	}
	saDER, err := x509.MarshalPKIXPublicKey(sa.Public())
	if err != nil {
		return nil, err
	}
	return ca, writeFiles(cp.dir.in("keys"), map[string][]byte{
		caCert:       ca.pem,
		tlsCert:      cert,
		tlsKey:       key,
		"sa.key":     saKey,
		"sa.pub":     pemBlock("PUBLIC KEY", saDER),
		"tokens.csv": []byte(token + ",admin,admin,system:masters\n"),
	})
}

func (cp *controlPlane) apiServerKeys() []string {
	return []string{
		"--tls-cert-file=" + cp.dir.in("keys", tlsCert),
		"--tls-private-key-file=" + cp.dir.in("keys", tlsKey),
		"--service-account-signing-key-file=" + cp.dir.in("keys", "sa.key"),
		"--service-account-key-file=" + cp.dir.in("keys", "sa.pub"),
		"--token-auth-file=" + cp.dir.in("keys", "tokens.csv"),
	}
}

// start starts a program of the cluster under a unique name.
func (ps *programs) start(name, program string, args ...string) error {
	return ps.add(name, program, append(os.Environ(), collectLess()...), args...).Start()
}

// collectLess returns variables that make a program of the control plane collect its
// garbage less often, which is a fifth of what kube-apiserver does otherwise, and
// that keep its memory within bounds.
func collectLess() []string { return []string{"GOGC=800", "GOMEMLIMIT=2GiB"} }

// add adds a program that stops with the cluster.
func (ps *programs) add(name, program string, env []string, args ...string) *Process {
	path := program
	if !filepath.IsAbs(path) {
		path = filepath.Join(ps.bin, program)
	}
	p := &Process{name: name, path: path, args: args, env: env, log: ps.dir.in("logs", name+".log")}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.processes = append(ps.processes, p)
	return p
}

// awaitHTTP waits until url answers 200. It fails if ctx or a program ends before.
func (ps *programs) awaitHTTP(ctx context.Context, name, url string) error {
	transport, err := rest.TransportFor(ps.config)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: transport, Timeout: waittest.Limit(5 * time.Second)}
	return ps.Await(ctx, name, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		rsp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer rsp.Body.Close() //nolint:errcheck // nothing is read from it
		if rsp.StatusCode != http.StatusOK {
			return fmt.Errorf("the status is %s", rsp.Status)
		}
		return nil
	})
}

// Await polls until ready returns nil. It fails if ctx or a program of the cluster ends
// before.
func (ps *programs) Await(ctx context.Context, what string, ready func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := Poll(ctx, func(ctx context.Context) error {
		if ended := ps.ended(); ended != nil {
			cancel(ended)
		}
		return ready(ctx)
	})
	if err != nil {
		return fmt.Errorf("cannot start %s: %w", what, err)
	}
	return nil
}

// ended returns the error of a program that has ended.
func (ps *programs) ended() error {
	for _, p := range ps.list() {
		if err := p.err(); err != nil {
			return err
		}
	}
	return nil
}

func (ps *programs) list() []*Process {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return append([]*Process(nil), ps.processes...)
}
