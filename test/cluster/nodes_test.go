package cluster_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/gorizond/koldun/internal/external/nodes"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/test/waittest"
)

// A fleet is a set of Node objects without machines.
type fleet struct {
	t      *testing.T
	nodes  typedcorev1.NodeInterface
	prefix string
}

func newFleet(t *testing.T, config *rest.Config, labels ...map[string]string) *fleet {
	t.Helper()
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, nodes: kube.CoreV1().Nodes(), prefix: strings.ToLower(t.Name())}
	for i, l := range labels {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: f.name(i), Labels: maps.Clone(l)}}
		if _, err := f.nodes.Create(t.Context(), n, metav1.CreateOptions{FieldManager: "admin"}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := f.nodes.Delete(context.Background(), f.name(i), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				t.Error(err)
			}
		})
	}
	return f
}

func (f *fleet) name(i int) string { return fmt.Sprintf("%s-%d", f.prefix, i) }

func (f *fleet) get(i int) *corev1.Node {
	f.t.Helper()
	n, err := f.nodes.Get(f.t.Context(), f.name(i), metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// set changes a label by hand; an empty value removes it.
func (f *fleet) set(i int, key, value string) {
	f.t.Helper()
	n := f.get(i)
	if value == "" {
		delete(n.Labels, key)
	} else {
		n.Labels[key] = value
	}
	if _, err := f.nodes.Update(f.t.Context(), n, metav1.UpdateOptions{FieldManager: "admin"}); err != nil {
		f.t.Fatal(err)
	}
}

func TestNodeLabelRules(t *testing.T) {
	ctx := t.Context()
	c := shared.Cluster(t)
	f := newFleet(t, c.Config(),
		map[string]string{"test.example.org/gpu": "2", "kept": "yes"},
		map[string]string{"test.example.org/gpu": "8"},
		map[string]string{"test.example.org/gpu": "8", "tier": "slow"},
		map[string]string{"other": "x"})
	rules := nodes.New(f.nodes)
	s := nodes.Spec{
		Owner: "NodeLabelRule fast", Labels: map[string]string{"tier": "fast", "koldun.test/pool": "a"},
		MatchExpressions: []nodes.Expression{{Key: "test.example.org/gpu", Operator: nodes.Gt, Values: []string{"4"}}},
	}
	bring := func(matched, labelled, conflicts int) {
		t.Helper()
		if err := rules.Update(ctx, s); err != nil {
			t.Fatal(err)
		}
		o, err := rules.Observe(ctx, s)
		if err != nil || !o.Exists || !o.UpToDate || o.Status.Matched != matched || o.Status.Labelled != labelled || len(o.Status.Conflicts) != conflicts {
			t.Fatalf("Observe: %+v, %v, want %d matched, %d labelled, %d conflicts", o, err, matched, labelled, conflicts)
		}
	}
	labels := func(i int, tier, pool string) {
		t.Helper()
		if l := f.get(i).Labels; l["tier"] != tier || l["koldun.test/pool"] != pool {
			t.Errorf("node %d has the labels %v, want tier %q and pool %q", i, l, tier, pool)
		}
	}
	watch, cancel := context.WithCancel(ctx)
	changed, done := make(chan bool, 100), make(chan error)
	go func() { done <- rules.Watch(watch, s, func() { changed <- true }) }()
	defer func() {
		cancel()
		if err := waittest.Receive(t, "the watch ends", done); err != nil {
			t.Error(err)
		}
	}()

	bring(2, 1, 1)
	labels(0, "", "")
	labels(1, "fast", "a")
	labels(2, "slow", "a") // a value set by another manager stays
	labels(3, "", "")

	// One node starts to match, and another one no longer matches.
	for len(changed) > 0 {
		<-changed
	}
	f.set(0, "test.example.org/gpu", "16")
	waittest.Receive(t, "a notification of a changed label", changed)
	f.set(1, "test.example.org/gpu", "1")
	bring(2, 1, 1)
	labels(0, "fast", "a")
	labels(1, "", "")
	if f.get(0).Labels["kept"] != "yes" {
		t.Error("a label of another manager is gone")
	}
	// A removed label is restored.
	f.set(0, "koldun.test/pool", "")
	bring(2, 1, 1)
	labels(0, "fast", "a")
	// The rule replaces a label by another one.
	s.Labels = map[string]string{"tier": "fast"}
	bring(2, 1, 1)
	labels(0, "fast", "")
	labels(2, "slow", "")
	// A node deleted while the rule is applied is not created again.
	if err := f.nodes.Delete(ctx, f.name(3), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	bring(2, 1, 1)

	s.Ending = true
	for range 2 {
		if err := rules.Delete(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	if o, err := rules.Observe(ctx, s); err != nil || o.Exists {
		t.Errorf("Observe after Delete: %+v, %v", o, err)
	}
	labels(0, "", "")
	labels(2, "slow", "")
	if f.get(0).Labels["kept"] != "yes" || f.get(0).Labels["test.example.org/gpu"] != "16" {
		t.Errorf("labels of others are gone: %v", f.get(0).Labels)
	}
}

func TestNodeLabelRulesNeedRights(t *testing.T) {
	c := shared.Cluster(t)
	config := c.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: "nobody"}
	f := newFleet(t, config)
	_, err := nodes.New(f.nodes).Observe(t.Context(), nodes.Spec{Owner: "r", Labels: map[string]string{"a": "b"}})
	if !fault.Is(err, fault.Denied) {
		t.Errorf("Observe without rights: %v of kind %q, want Denied", err, fault.KindOf(err))
	}
}
