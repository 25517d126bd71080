package manager_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/waittest"
)

// Size and duration of BenchmarkProvider.
const (
	benchResources = 1000
	benchChanges   = 100
	benchIdle      = 30 * time.Second
	binary         = "../../bin/koldun-provider"
)

// BenchmarkProvider runs the provider's binary with 1,000 managed resources
// (KOLDUN_BENCH_RESOURCES for another number) on real servers, and reports its
// memory, what it takes when nothing happens, and how long a change of a spec
// takes until it is seen in the status.
func BenchmarkProvider(b *testing.B) {
	if _, err := os.Stat(binary); err != nil {
		b.Skipf("the provider is not built; run: make bench-provider")
	}
	n := benchResources
	if v, err := strconv.Atoi(os.Getenv("KOLDUN_BENCH_RESOURCES")); err == nil {
		n = v
	}
	for b.Loop() {
		w := newBench(b)
		begin := time.Now()
		all := w.fill(n)
		w.wait(all)
		b.ReportMetric(time.Since(begin).Seconds(), "s-to-ready")
		took := w.changes(all)
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
		b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
		before := w.cpu()
		time.Sleep(benchIdle) // the benchmark measures an idle provider
		b.ReportMetric((w.cpu()-before).Seconds()/benchIdle.Seconds(), "idle-cores")
		b.ReportMetric(w.resident()/(1<<20), "MiB-resident")
		b.ReportMetric(0, "ns/op")
	}
}

type bench struct {
	b      *testing.B
	client client.Client
	ns     string
	pid    int
}

func newBench(b *testing.B) *bench {
	b.Helper()
	c := cluster.Start(b, cluster.Options{ControlPlaneOnly: true})
	if err := c.Apply(b.Context(), cluster.Definitions(cluster.ManagedGroup)...); err != nil {
		b.Fatal(err)
	}
	provider := start(b, c, binary, "--no-leader-election", "--metrics=0", "--health=")
	cfg := c.Config()
	cfg.QPS, cfg.Burst = 1000, 1000
	w := &bench{b: b, client: newClient(b, cfg), ns: c.Namespace(b), pid: provider.Process.Pid}
	for _, o := range outside(w.ns, natstest.StartOperator(b), s3test.Start(b, b.TempDir(), "")) {
		if err := w.client.Create(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
	return w
}

func (w *bench) create(obj client.Object) {
	w.b.Helper()
	obj.SetNamespace(w.ns)
	if err := w.client.Create(w.b.Context(), obj); err != nil {
		w.b.Fatal(err)
	}
}

// fill creates two fifths streams, two fifths key-value buckets, one fifth buckets.
func (w *bench) fill(n int) []resource.Managed {
	w.b.Helper()
	var out []resource.Managed
	for i := range n {
		name := fmt.Sprintf("resource-%04d", i)
		meta := metav1.ObjectMeta{Name: name}
		var m resource.Managed
		switch i % 5 {
		case 0, 1:
			m = &v1alpha1.Stream{ObjectMeta: meta, Spec: v1alpha1.StreamSpec{ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.StreamParameters{Name: name, Subjects: []string{name + ".>"}, MaxMsgs: new(int64(1))}}}
		case 2, 3:
			m = &v1alpha1.KeyValue{ObjectMeta: meta, Spec: v1alpha1.KeyValueSpec{ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.KeyValueParameters{Bucket: name, MaxBytes: new(int64(1 << 20))}}}
		default:
			m = &v1alpha1.Bucket{ObjectMeta: meta, Spec: v1alpha1.BucketSpec{ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.BucketParameters{BucketName: name, Tags: map[string]string{"turn": "0"}}}}
		}
		w.create(m)
		out = append(out, m)
	}
	return out
}

func (w *bench) wait(all []resource.Managed) {
	w.b.Helper()
	for _, m := range all {
		cluster.Eventually(w.b, m.GetName(), func(context.Context) error { return w.seen(m) })
	}
}

// seen returns an error unless the status is that of the present generation.
func (w *bench) seen(m resource.Managed) error {
	if err := w.client.Get(w.b.Context(), client.ObjectKeyFromObject(m), m); err != nil {
		return err
	}
	synced, ready := m.GetCondition(xpv2.TypeSynced), m.GetCondition(xpv2.TypeReady)
	if synced.Status != corev1.ConditionTrue || ready.Status != corev1.ConditionTrue || synced.ObservedGeneration != m.GetGeneration() {
		return fmt.Errorf("synced %s %s, ready %s %s", synced.Status, synced.Message, ready.Status, ready.Message)
	}
	return nil
}

// changes changes specs, one after the other, and returns how long each took.
func (w *bench) changes(all []resource.Managed) []time.Duration {
	w.b.Helper()
	var out []time.Duration
	for i := range benchChanges {
		m := all[i*len(all)/benchChanges]
		switch m := m.(type) {
		case *v1alpha1.Stream:
			m.Spec.ForProvider.MaxMsgs = new(int64(2))
		case *v1alpha1.KeyValue:
			m.Spec.ForProvider.MaxBytes = new(int64(2 << 20))
		case *v1alpha1.Bucket:
			m.Spec.ForProvider.Tags["turn"] = "1"
		}
		begin := time.Now()
		if err := w.client.Update(w.b.Context(), m); err != nil {
			w.b.Fatal(err)
		}
		for w.seen(m) != nil {
			if time.Since(begin) > waittest.Patience {
				w.b.Fatalf("%s: status does not follow the spec: %v", m.GetName(), w.seen(m))
			}
			time.Sleep(5 * time.Millisecond) // the clock's grain
		}
		out = append(out, time.Since(begin))
	}
	return out
}

// cpu is the processor time that the provider has had (proc(5), fields 14 and
// 15 of stat, in hundredths of a second).
func (w *bench) cpu() time.Duration {
	w.b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.pid))
	if err != nil {
		w.b.Fatal(err)
	}
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		w.b.Fatalf("cannot read %q", raw)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// resident is the memory of the provider in bytes.
func (w *bench) resident() float64 {
	w.b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", w.pid))
	if err != nil {
		w.b.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(raw))[1])
	if err != nil {
		w.b.Fatal(err)
	}
	return float64(pages * os.Getpagesize())
}
