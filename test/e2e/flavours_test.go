package e2e_test

import (
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/budget"
	"github.com/gorizond/koldun/test/cluster/node"
)

const api = "koldun.gorizond.io/v1"

// A proof is one flavour of the packages on a cluster of its own.
type proof struct {
	*cluster.Cluster
	flavour
	*stage
	budget   *budget.Counter
	recorder *recorder
	watched  []schema.GroupVersionResource // what Koldun makes

	programs         programs
	function         *cluster.Process
	providerIdentity string // kubeconfig of the Provider's service account

	// What runs when things are not simulated.
	providers []*cluster.Process
	node      *node.Node
	services  *services
}

// closed shows that no circuit breaker has opened, and tells how near one came.
func (p *proof) closed(t *testing.T) {
	t.Helper()
	opens, err := p.CrossplaneMetric(t.Context(), cluster.BreakerOpens)
	if err != nil {
		t.Fatal(err)
	}
	composite, left := p.budget.Lowest()
	t.Logf("least left of a budget of %d: %.0f, of %s", int(budget.Burst), left, composite)
	if opens > 0 {
		t.Errorf("circuit breakers opened %v times:\n%s", opens, p.budget.Report(""))
	}
}

// together runs tests side by side, more than there are CPUs: they wait most of
// the time.
func together(t *testing.T, tests map[string]func(*testing.T)) {
	t.Helper()
	var all sync.WaitGroup
	for name, test := range tests {
		all.Go(func() { t.Run(name, test) })
	}
	all.Wait()
}

func flavours() map[string]flavour {
	return map[string]flavour{
		"Namespaced": {
			configuration: "configuration",
			conditions:    []string{"Established"},
			delivery:      "pvc",
		},
		"Claims": {
			configuration: "configuration-claims",
			prefix:        "x",
			conditions:    []string{"Established", "Offered"},
			manifests:     []string{"package/rbac-claims.yaml"},
			delivery:      "csi",
		},
	}
}

// TestOnCrossplane shows that both flavours do the same with the same
// manifests.
func TestOnCrossplane(t *testing.T) {
	function := program(t, "functions")
	for name, f := range flavours() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster.Start(t, cluster.Options{})
			p := &proof{Cluster: c, flavour: f, programs: programs{function: function}}
			p.install(t)
			p.simulate(t)
			t.Run("InvalidClaimsAreRefused", p.refused)
			together(t, map[string]func(*testing.T){
				"Quickstart": p.quickstart, "Ring": p.ring, "Rollout": p.rollout, "All": p.all, "Sessions": p.sessions,
			})
			t.Run("SeedsAreAccepted", p.seeds)
			p.closed(t)
		})
	}
}
