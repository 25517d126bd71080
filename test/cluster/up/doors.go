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

// lookEvery is how often new endpoints are looked for.
const lookEvery = time.Second

// doors lead from ports of this machine to endpoints of the cluster, whose
// names mean nothing here.
type doors struct {
	platform *platform.Platform
	open     map[string]bool // by URL within the cluster
	serving  sync.WaitGroup
}

func newDoors(p *platform.Platform) *doors { return &doors{platform: p, open: map[string]bool{}} }

// watch opens a door for each endpoint that an Ingress reports, and says where,
// until ctx ends.
func (d *doors) watch(ctx context.Context) {
	defer d.serving.Wait()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "koldun.gorizond.io", Version: "v1", Kind: "IngressList"})
		_ = d.platform.Client().List(ctx, list) // there may be no such kind yet
		for _, o := range list.Items {
			if inside, _, _ := unstructured.NestedString(o.Object, "status", "url"); inside != "" && !d.open[inside] {
				d.lead(ctx, inside)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// lead from a port of this machine to the endpoint: that of the endpoint if it
// is free.
func (d *doors) lead(ctx context.Context, inside string) {
	d.open[inside] = true // or tried: it is not tried again
	u, err := url.Parse(inside)
	if err != nil || !strings.Contains(u.Hostname(), ".svc") {
		return // a name of the world outside, which no Service has
	}
	to, err := d.platform.Node.Address(u.Host)
	if err != nil {
		slog.Error("cannot lead to endpoint", "url", inside, "error", err)
		return
	}
	port, _ := strconv.Atoi(u.Port())
	p, err := proxy.Listen(ctx, port, slog.Default())
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Denied) {
		p, err = proxy.Listen(ctx, 0, slog.Default())
	}
	if err != nil {
		slog.Error("cannot lead to endpoint", "url", inside, "error", err)
		return
	}
	p.Set([]string{to})
	d.serving.Go(func() {
		context.AfterFunc(ctx, p.Close)
		p.Serve(ctx)
	})
	u.Host = p.Address()
	say("%s is %s on this machine", inside, u)
}
