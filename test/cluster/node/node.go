// Package node implements the node that a test control plane lacks: it binds pods
// to itself, runs their containers as processes of this machine, reports their
// status, ends them, and forwards connections to Services to them.
//
// It runs containers of Koldun's own image with the program that the test has
// built, as `koldun up` does: with the same ports, folders and probes (see package
// internal/local/pod). All pods share the loopback interface, so each named port of
// a pod gets its own number, which containers read from their environment
// (names.PortEnv).
//
// Containers reach Services by their cluster names: the node replaces
// NAME.NAMESPACE.svc:PORT in arguments and variables by a loopback address. Tests
// use [Node.Address] or [Node.HTTP].
//
// It refuses pods as a scheduler and a kubelet do: whose nodeSelector, requests or
// PersistentVolumeClaims it cannot serve, and whose images its registry does not have.
//
// It does not implement the rest of a kubelet: users, limits of CPU, projected and
// persistent volumes (a claim is a folder of the node), probes other than httpGet,
// hooks, and restartPolicy OnFailure.
package node

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/gorizond/koldun/internal/local/pod"
	"github.com/gorizond/koldun/internal/local/process"
)

// Name of the node to which pods are bound. No such object exists.
const Name = "localhost"

const (
	// concurrency is the number of pods that are processed at the same time.
	concurrency = 4
	// again is the retry interval for a pod that waits for something.
	again = 250 * time.Millisecond
)

// Options configures a node.
type Options struct {
	// Image is the name of Koldun's own image, Binary the absolute path of the
	// program that its containers run.
	Image, Binary string

	// Programs maps images to folders of programs, which come first on the PATH of
	// the image's containers.
	Programs map[string]string

	// Registry returns what a registry answers to a pull of another image. Nil: it has
	// none.
	Registry func(image string) string

	// Labels are those of the node.
	Labels map[string]string

	// Strict has pods wait for PersistentVolumeClaims that do not exist, ends
	// containers that take more memory than their limit, and pods that store more than
	// theirs.
	Strict bool

	// Env has variables KEY=VALUE for every container. Those of the container win.
	Env []string
}

// A Node runs pods until it is stopped. It is safe for concurrent use.
type Node struct {
	Options
	dir      string
	clients  kubernetes.Interface
	pods     listers.PodLister
	services listers.ServiceLister
	queue    workqueue.TypedDelayingInterface[string]
	tether   *process.Tether
	ports    *pod.Ports
	proxies  *proxies

	cancel context.CancelFunc
	ctx    context.Context //nolint:containedctx // ends with Stop, which ends all processes
	all    sync.WaitGroup

	mu      sync.Mutex
	workers map[string]*podWorker // by namespace/name
}

// Start starts a node. When the test ends, it kills all pods, and prints their logs
// if the test has failed.
func Start(t testing.TB, cfg *rest.Config, o Options) *Node {
	t.Helper()
	n, err := New(cfg, t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.Stop()
		if t.Failed() {
			t.Log(n.Logs())
		}
	})
	return n
}

// New starts a node that stores logs and volumes in dir. The caller must stop it.
func New(cfg *rest.Config, dir string, o Options) (*Node, error) {
	if !filepath.IsAbs(o.Binary) {
		return nil, fmt.Errorf("cannot run %q: not an absolute path", o.Binary)
	}
	if _, err := os.Stat(o.Binary); err != nil {
		return nil, fmt.Errorf("cannot run containers of %q: %w", o.Image, err)
	}
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot make client of the node: %w", err)
	}
	tether, err := process.NewTether()
	if err != nil {
		return nil, err
	}
	n := &Node{
		Options: o, dir: dir, clients: clients, tether: tether, ports: pod.NewPorts(),
		queue: workqueue.NewTypedDelayingQueue[string](), workers: map[string]*podWorker{},
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.proxies = newProxies(n.ctx, n.endpoints)
	if err := n.watch(); err != nil {
		n.Stop()
		return nil, err
	}
	for range concurrency {
		n.all.Go(n.work)
	}
	return n, nil
}

// watch watches pods and Services.
func (n *Node) watch() error {
	factory := informers.NewSharedInformerFactory(n.clients, 0)
	pods, services := factory.Core().V1().Pods(), factory.Core().V1().Services()
	n.pods, n.services = pods.Lister(), services.Lister()
	add := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			n.queue.Add(key)
		}
	}
	if _, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add,
	}); err != nil {
		return fmt.Errorf("cannot watch pods: %w", err)
	}
	refresh := func(any) { n.proxies.refresh() }
	if _, err := services.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: refresh, UpdateFunc: func(_, obj any) { refresh(obj) }, DeleteFunc: refresh,
	}); err != nil {
		return fmt.Errorf("cannot watch Services: %w", err)
	}
	factory.Start(n.ctx.Done())
	n.all.Go(func() {
		<-n.ctx.Done()
		factory.Shutdown()
	})
	for kind, synced := range factory.WaitForCacheSync(n.ctx.Done()) {
		if !synced {
			return fmt.Errorf("cannot watch %s", kind)
		}
	}
	return nil
}

func (n *Node) work() {
	for {
		key, closing := n.queue.Get()
		if closing {
			return
		}
		if err := n.step(n.ctx, key); err != nil {
			slog.Debug("cannot run pod yet", "pod", key, "error", err)
			n.queue.AddAfter(key, again)
		}
		n.queue.Done(key)
	}
}

// Stop kills all pods and returns when their processes have ended. It does not
// update their status.
func (n *Node) Stop() {
	n.cancel()
	n.queue.ShutDown()
	n.mu.Lock()
	workers := slices.Collect(maps.Values(n.workers))
	n.mu.Unlock()
	for _, l := range workers {
		l.killAll()
	}
	n.all.Wait()
	n.proxies.close()
	n.tether.Close()
}
