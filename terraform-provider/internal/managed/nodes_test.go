package managed_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/gorizond/koldun/terraform-provider/internal/provider"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

// A fleet is a provider on a real API server with the nodes of one test.
type fleet struct {
	*providertest.Provider
	t     *testing.T
	nodes typedcorev1.NodeInterface
	mark  string // label that all its nodes have
}

func newFleet(t *testing.T, sizes ...string) *fleet {
	t.Helper()
	c := shared.Cluster(t)
	core, err := typedcorev1.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, nodes: core.Nodes(), mark: strings.ToLower(t.Name())}
	for i, size := range sizes {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: f.name(i), Labels: map[string]string{"fleet": f.mark, "size": size}}}
		if _, err := f.nodes.Create(t.Context(), n, metav1.CreateOptions{FieldManager: "admin"}); err != nil {
			t.Fatal(err)
		}
	}
	f.Provider = providertest.New(t, provider.New("test", func(string) string { return "" }), map[string]any{"kubernetes": map[string]any{"config_path": c.Kubeconfig()}})
	return f
}

func (f *fleet) name(i int) string { return fmt.Sprintf("%s-%d", f.mark, i) }

// labels returns the values of a label on all nodes of the fleet, "-" for none.
func (f *fleet) labels(key string) string {
	f.t.Helper()
	list, err := f.nodes.List(f.t.Context(), metav1.ListOptions{LabelSelector: "fleet=" + f.mark})
	if err != nil {
		f.t.Fatal(err)
	}
	var out []string
	for i := range list.Items {
		v, ok := list.Items[i].Labels[key]
		if !ok {
			v = "-"
		}
		out = append(out, v)
	}
	return strings.Join(out, " ")
}

func (f *fleet) patch(i int, labels string) {
	f.t.Helper()
	_, err := f.nodes.Patch(f.t.Context(), f.name(i), types.MergePatchType, []byte(`{"metadata":{"labels":`+labels+`}}`), metav1.PatchOptions{FieldManager: "admin"})
	if err != nil {
		f.t.Fatal(err)
	}
}

// rule returns a rule for the nodes of the fleet with a size above a limit.
func (f *fleet) rule(limit string, labels map[string]any) map[string]any {
	return map[string]any{
		"name": f.mark, "labels": labels, "match_expressions": []any{
			map[string]any{"key": "fleet", "operator": "In", "values": []any{f.mark}},
			map[string]any{"key": "size", "operator": "Gt", "values": []any{limit}},
		},
	}
}

// TestNodeLabelRule creates a rule, repairs drift, changes, imports and destroys it.
func TestNodeLabelRule(t *testing.T) {
	f := newFleet(t, "8", "64", "128")
	r := f.Resource("koldun_node_label_rule")
	config := f.rule("32", map[string]any{"koldun.gorizond.io/pool": "large"})
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(config)
	if got := f.labels("koldun.gorizond.io/pool"); got != "- large large" {
		t.Errorf("got labels %q", got)
	}
	status, _ := r.Attribute("status").(map[string]any)
	if r.Attribute("ready") != true || text(status["matched"]) != "2" || text(status["labelled"]) != "2" {
		t.Errorf("got state %v", providertest.JSON(r.State))
	}
	if again := f.Resource("koldun_node_label_rule").Apply(config); !strings.Contains(again, "terraform import koldun_node_label_rule.NAME") {
		t.Errorf("second rule of the same name: got error %q", again)
	}

	f.patch(1, `{"koldun.gorizond.io/pool":null}`)
	f.patch(0, `{"size":"48"}`)
	r.Refresh()
	if p := r.Plan(config); p.Empty || len(p.Replace) > 0 {
		t.Errorf("plan after a change of nodes: got none or a replacement for %v", p.Replace)
	}
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	if got := f.labels("koldun.gorizond.io/pool"); got != "large large large" {
		t.Errorf("labels after the repair: got %q", got)
	}
	r.CheckStable(config)

	smaller := f.rule("100", map[string]any{"example.org/pool": "huge"})
	if e := r.Apply(smaller); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(smaller)
	if a, b := f.labels("koldun.gorizond.io/pool"), f.labels("example.org/pool"); a != "- - -" || b != "- - huge" {
		t.Errorf("labels after the change: got %q and %q", a, b)
	}
	for _, imported := range []*providertest.Resource{f.Import("koldun_node_label_rule", f.mark), f.ImportIdentity("koldun_node_label_rule", map[string]any{"name": f.mark})} {
		if got := text(imported.Attribute("labels")); got != "map[example.org/pool:huge]" {
			t.Errorf("imported labels: got %s", got)
		}
		// Nodes do not hold the expressions of a rule.
		if p := imported.Plan(smaller); p.Empty || len(p.Replace) > 0 {
			t.Errorf("plan after the import: got none or a replacement for %v", p.Replace)
		}
	}
	got, e := f.Data("koldun_node_label_rule", map[string]any{"name": f.mark})
	if e != "" || text(got["labels"]) != "map[example.org/pool:huge]" {
		t.Errorf("data source: got %v %s", got, e)
	}
	if e := r.Destroy(); e != "" {
		t.Fatal(e)
	}
	if got := f.labels("example.org/pool"); got != "- - -" {
		t.Errorf("labels after destroy: got %q", got)
	}
}

// TestNodeLabelRuleWithoutNodes checks that a rule stays in the state if it matches
// no node.
func TestNodeLabelRuleWithoutNodes(t *testing.T) {
	f := newFleet(t)
	r := f.Resource("koldun_node_label_rule")
	config := f.rule("32", map[string]any{"example.org/pool": "a"})
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(config)
	if e := r.Destroy(); e != "" {
		t.Fatal(e)
	}
}

// TestNodeLabelRuleLeavesOthersAlone checks that nodes with another value keep it
// and are reported.
func TestNodeLabelRuleLeavesOthersAlone(t *testing.T) {
	f := newFleet(t, "64", "128")
	f.patch(0, `{"example.org/pool":"theirs"}`)
	r := f.Resource("koldun_node_label_rule")
	config := f.rule("1", map[string]any{"example.org/pool": "ours"})
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(config)
	status, _ := r.Attribute("status").(map[string]any)
	if got := f.labels("example.org/pool"); got != "theirs ours" || text(status["conflicts"]) != "["+f.name(0)+"]" {
		t.Errorf("got labels %q and status %v", got, status)
	}
	if e := r.Destroy(); e != "" {
		t.Fatal(e)
	}
	if got := f.labels("example.org/pool"); got != "theirs -" {
		t.Errorf("labels after destroy: got %q", got)
	}
}
