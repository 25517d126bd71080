package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/terraform-provider/clitest"
	"github.com/gorizond/koldun/test/cluster"
)

// TestInterruptedWaits interrupts applies that wait for a claim: the state holds
// the change, untainted, and the next apply continues the wait.
func TestInterruptedWaits(t *testing.T) {
	c := shared.Cluster(t)
	d := &dllama{t: t, cluster: c, key: client.ObjectKey{Namespace: c.Namespace(t), Name: "chat"}}
	f := mirror(t).Folder(t, head+`
variable "threads" { default = 1 }
resource "koldun_dllama" "chat" {
  name      = "chat"
  model_ref = { name = "m" }
  engine    = { threads = var.threads }
}
`, "KUBECONFIG="+c.Kubeconfig(), "KUBE_NAMESPACE="+d.key.Namespace)
	for _, generation := range []int64{1, 2} { // create, then update
		change := fmt.Sprintf("threads=%d", generation)
		apply := f.Start("apply", "-auto-approve", "-var", change)
		d.reaches(generation)
		apply.Interrupt()
		if out := apply.Wait().Out; !strings.Contains(out, "the wait was interrupted") {
			t.Errorf("interrupted apply of %s: got output:\n%s", change, out)
		}
		requireUntainted(t, f, generation)
		d.serve()
		// With a refresh it would be ready before the apply waits.
		if out := f.OK("apply", "-auto-approve", "-refresh=false", "-var", change); !strings.Contains(out, "0 added, 1 changed, 0 destroyed") {
			t.Errorf("resumed apply: got output:\n%s", out)
		}
		d.reaches(generation)
		if r := f.Run("plan", "-detailed-exitcode", "-var", change); r.Exit != 0 {
			t.Errorf("the plan after it is not empty:\n%s", r.Out)
		}
	}
}

// requireUntainted requires that the state holds the Dllama as applied, not ready
// and not tainted.
func requireUntainted(t *testing.T, f *clitest.Folder, threads int64) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(f.Dir, "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	var state struct {
		Resources []struct {
			Instances []struct {
				Status     string `json:"status"` // "tainted", or none
				Attributes struct {
					Ready  *bool `json:"ready"`
					Engine struct {
						Threads int64 `json:"threads"`
					} `json:"engine"`
				} `json:"attributes"`
			} `json:"instances"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(raw, &state); err != nil {
		t.Fatal(err)
	}
	if len(state.Resources) != 1 || len(state.Resources[0].Instances) != 1 {
		t.Fatalf("got state:\n%s", raw)
	}
	i := state.Resources[0].Instances[0]
	if i.Status != "" || i.Attributes.Ready == nil || *i.Attributes.Ready || i.Attributes.Engine.Threads != threads {
		t.Errorf("got state:\n%s", raw)
	}
}

// dllama is a Dllama in a cluster without a controller for it.
type dllama struct {
	t       *testing.T
	cluster *cluster.Cluster
	key     client.ObjectKey
}

func (d *dllama) get(ctx context.Context) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(schema.GroupVersionKind{Group: "koldun.gorizond.io", Version: "v1", Kind: "Dllama"})
	return obj, d.cluster.Client().Get(ctx, d.key, obj)
}

// reaches waits until the Dllama has a generation.
func (d *dllama) reaches(generation int64) {
	d.t.Helper()
	cluster.Eventually(d.t, fmt.Sprintf("Dllama %q to reach generation %d", d.key, generation), func(ctx context.Context) error {
		obj, err := d.get(ctx)
		if err == nil && obj.GetGeneration() != generation {
			err = fmt.Errorf("got generation %d", obj.GetGeneration())
		}
		return err
	})
}

// serve sets the status that Crossplane sets on a ready Dllama.
func (d *dllama) serve() {
	d.t.Helper()
	obj, err := d.get(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	var conditions []any
	for _, kind := range []string{"Synced", "Ready", "Serving"} {
		conditions = append(conditions, map[string]any{
			"type": kind, "status": "True", "reason": "Available", "message": "", "observedGeneration": obj.GetGeneration(),
			"lastTransitionTime": metav1.Now().UTC().Format("2006-01-02T15:04:05Z"),
		})
	}
	status := map[string]any{"observedGeneration": obj.GetGeneration(), "conditions": conditions}
	if err := unstructured.SetNestedMap(obj.Object, status, "status"); err != nil {
		d.t.Fatal(err)
	}
	if err := d.cluster.Client().Status().Update(d.t.Context(), obj); err != nil {
		d.t.Fatal(err)
	}
}
