// Package node is the node that a test control plane lacks: it binds pods to
// itself, runs their containers as processes of this machine, reports how they
// fare, ends them, and leads the names of Services to them.
//
// It runs containers of Koldun's own image by the program that the test has
// built, as `koldun up` does: with the same ports, folders and probes, see
// package internal/local/pod. All pods share the loopback interface, so each
// named port of a pod gets a number of its own, which containers learn from
// their environment (names.PortEnv).
//
// Names of Services are those of a cluster: wherever an argument or variable of
// a container holds NAME.NAMESPACE.svc:PORT, the container finds an address of
// the loopback interface in its place, and tests use [Node.Address] or
// [Node.HTTP].
//
// What a kubelet does besides is left out: images, users, limits, projected and
// persistent volumes (a claim is a folder of the node), probes other than
// httpGet, and restartPolicy OnFailure.
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
	// workers is the number of pods that are processed at the same time.
	workers = 4
	// again is how soon a pod is looked at again for which something is missing.
	again = 250 * time.Millisecond
)

// Options of a node.
type Options struct {
	// Image is the name of Koldun's own image, Binary the absolute path of the
	// program that its containers run.
	Image, Binary string

	// Programs are folders of programs by the image that has them. They come
	// first on the PATH of the image's containers. Pods of other images wait
	// forever.
	Programs map[string]string

	// Env are KEY=VALUE for every container. What it sets itself wins.
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
	ctx    context.Context //nolint:containedctx // ends with Stop, and with it whatever runs
	all    sync.WaitGroup

	mu    sync.Mutex
	lives map[string]*life // by namespace/name
}

// Start a node that is stopped when the test ends, its pods killed. What they
// logged is printed if the test failed.
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

// New starts a node that keeps logs and volumes in dir. It must be stopped.
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
		queue: workqueue.NewTypedDelayingQueue[string](), lives: map[string]*life{},
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.proxies = newProxies(n.ctx, n.endpoints)
	if err := n.watch(); err != nil {
		n.Stop()
		return nil, err
	}
	for range workers {
		n.all.Go(n.work)
	}
	return n, nil
}

// watch pods and Services.
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

// Stop kills all pods and returns when nothing is left of them. Nothing is
// reported of that.
func (n *Node) Stop() {
	n.cancel()
	n.queue.ShutDown()
	n.mu.Lock()
	lives := slices.Collect(maps.Values(n.lives))
	n.mu.Unlock()
	for _, l := range lives {
		l.cut()
	}
	n.all.Wait()
	n.proxies.close()
	n.tether.Close()
}
