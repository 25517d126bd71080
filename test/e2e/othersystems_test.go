package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/test/cluster"
)

const (
	// stack serves the model of the quickstart, by the name that clients ask for.
	stack = `
apiVersion: koldun.gorizond.io/v1
kind: ModelOrchestra
metadata: {name: stack}
spec:
  backend: Koldun
  allowAnonymous: true
  applications:
    reader: {readerConfig: {modelName: gorizond/koldun-tiny, device: cpu, consumerGroup: koldun-tiny}}
`
	mapped = `
apiVersion: koldun.gorizond.io/v1
kind: AIModelMap
metadata: {name: phi-1.5}
spec: {vllm: [{variant: base, uri: %s}]}
---
apiVersion: koldun.gorizond.io/v1
kind: AIDeployment
metadata: {name: phi}
spec:
  engine: {name: vllm}
  models: [{modelMapRef: {name: phi-1.5, variant: base}}]
`
	labeler = `
apiVersion: koldun.gorizond.io/v1
kind: AutoNodeLabeler
metadata: {name: linux}
spec:
  matchExpression: {key: example.org/no-such-label, operator: DoesNotExist}
  labels: {example.org/found: "true"}
`
)

// otherSystems tests the kinds of other systems with running pods: a stack answers, a
// deployment follows its map, and a node gets its labels and loses them.
func (p *suite) otherSystems(t *testing.T) {
	t.Run("ModelOrchestra", p.orchestra)
	t.Run("AIModelMap", p.modelMap)
	t.Run("AutoNodeLabeler", p.nodeLabels)
}

func (p *suite) orchestra(t *testing.T) {
	s := &serving{suite: p, ns: p.Namespace(t)}
	if err := p.ApplyIn(t.Context(), s.ns, stack); err != nil {
		t.Fatal(err)
	}
	for _, condition := range []string{"Serving", "Ready"} {
		cluster.Eventually(t, "the stack to be "+condition, p.holds(s.ns, api, "ModelOrchestra", "stack", condition))
	}
	o, err := p.get(t.Context(), s.ns, api, "ModelOrchestra", "stack")
	if err != nil {
		t.Fatal(err)
	}
	if s.url, _, _ = unstructured.NestedString(o.Object, "status", "url"); s.url == "" {
		t.Fatalf("the stack has no URL: %v", o.Object["status"])
	}
	cluster.Eventually(t, "an answer", func(ctx context.Context) error { return ask(ctx, s.processes.node.HTTP(), s.url, nil) })
	p.budgets.enough(t, "stack", "modelorchestras")
	if err := p.Delete(t.Context(), s.ns, stack); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "nothing to be left of the stack", p.nothingLeftIn(s.ns))
}

func (p *suite) modelMap(t *testing.T) {
	ns := p.Namespace(t)
	for _, uri := range []string{"microsoft/phi-1_5", "microsoft/phi-2"} {
		if err := p.ApplyIn(t.Context(), ns, fmt.Sprintf(mapped, uri)); err != nil {
			t.Fatal(err)
		}
		cluster.Eventually(t, "the Deployment to serve "+uri, func(ctx context.Context) error {
			d, err := p.get(ctx, ns, "apps/v1", "Deployment", "phi")
			if err != nil {
				return err
			}
			containers, _, _ := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "containers")
			if args := fmt.Sprint(containers); !strings.Contains(args, uri) {
				return fmt.Errorf("the containers are %s", args)
			}
			return nil
		})
	}
	for kind, name := range map[string]string{"AIModelMap": "phi-1.5", "AIDeployment": "phi"} {
		cluster.Eventually(t, kind+" to be applied", p.holds(ns, api, kind, name, "Synced"))
	}
	if err := p.Delete(t.Context(), ns, fmt.Sprintf(mapped, "")); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "nothing to be left of the deployment", p.nothingLeftIn(ns))
}

func (p *suite) nodeLabels(t *testing.T) {
	// The node that runs pods has no object of its own.
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "labelled", Labels: map[string]string{"kubernetes.io/os": "linux"}}}
	if err := p.Client().Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Client().Delete(context.Background(), node) })
	labelled := func(want bool) func(context.Context) error {
		return func(ctx context.Context) error {
			n, err := p.get(ctx, "", "v1", "Node", node.Name)
			if err != nil {
				return err
			}
			if got := n.GetLabels(); (got["example.org/found"] == "true") != want {
				return fmt.Errorf("the labels are %v", got)
			}
			return nil
		}
	}
	if err := p.Apply(t.Context(), labeler); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the node to be labelled", labelled(true))
	cluster.Eventually(t, "the labeler to be ready", p.holds("", api, "AutoNodeLabeler", "linux", "Ready"))
	if err := p.Delete(t.Context(), "", labeler); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the node to lose the label", labelled(false))
}
