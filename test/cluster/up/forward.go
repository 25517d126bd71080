package main

import (
	"context"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/proxy"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// lookEvery is the interval between searches for new endpoints.
const lookEvery = time.Second

// A forwarder forwards loopback ports to endpoints of the cluster, whose names do
// not resolve on this machine.
type forwarder struct {
	platform *platform.Platform
	open     map[string]bool // by URL within the cluster
	serving  sync.WaitGroup
}

func newForwarder(p *platform.Platform) *forwarder {
	return &forwarder{platform: p, open: map[string]bool{}}
}

// watch forwards a port to each endpoint in the status of an Ingress, and prints
// its address, until ctx ends.
func (f *forwarder) watch(ctx context.Context) {
	defer f.serving.Wait()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "koldun.gorizond.io", Version: "v1", Kind: "IngressList"})
		_ = f.platform.Client().List(ctx, list) // the kind may not exist yet
		for _, o := range list.Items {
			if inside, _, _ := unstructured.NestedString(o.Object, "status", "url"); inside != "" && !f.open[inside] {
				f.forward(ctx, inside)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// forward forwards a loopback port to the endpoint: the endpoint's own port if it
// is free.
func (f *forwarder) forward(ctx context.Context, inside string) {
	f.open[inside] = true // a failure is not retried
	u, err := url.Parse(inside)
	if err != nil || !strings.Contains(u.Hostname(), ".svc") {
		return // not the name of a Service
	}
	to, err := f.platform.Node.Address(u.Host)
	if err != nil {
		slog.Error("cannot forward to endpoint", "url", inside, "error", err)
		return
	}
	port, _ := strconv.Atoi(u.Port())
	p, err := proxy.Listen(ctx, port, slog.Default())
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Denied) {
		p, err = proxy.Listen(ctx, 0, slog.Default())
	}
	if err != nil {
		slog.Error("cannot forward to endpoint", "url", inside, "error", err)
		return
	}
	p.Set([]string{to})
	f.serving.Go(func() {
		context.AfterFunc(ctx, p.Close)
		p.Serve(ctx)
	})
	u.Host = p.Address()
	say("%s is %s on this machine", inside, u)
}
