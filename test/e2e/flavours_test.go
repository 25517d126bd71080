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

// A suite tests one flavour of the packages on a cluster.
type suite struct {
	*cluster.Cluster
	shared bool    // with other tests
	opened float64 // how often circuit breakers had opened when the test began
	flavour
	*simulation
	budget   *budget.Counter
	recorder *recorder
	watched  []schema.GroupVersionResource // kinds that Koldun creates

	programs         programs
	function         *cluster.Process
	providerIdentity string // kubeconfig of the Provider's service account

	// Processes of tests without simulation.
	providers []*cluster.Process
	node      *node.Node
	services  *services
}

// breakersClosed tests that no circuit breaker has opened, and logs the lowest budget.
func (p *suite) breakersClosed(t *testing.T) {
	t.Helper()
	opens := p.opens(t) - p.opened
	composite, left := p.budget.Lowest()
	t.Logf("lowest budget of %d: %.0f, of %s", int(budget.Burst), left, composite)
	if opens > 0 {
		t.Errorf("circuit breakers opened %v times:\n%s", opens, p.budget.Report(""))
	}
}

// parallel runs tests in parallel, more than there are CPUs, because they mostly wait.
func parallel(t *testing.T, tests map[string]func(*testing.T)) {
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
			chart:         true,
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

// TestOnCrossplane tests that both flavours behave the same for the same manifests.
func TestOnCrossplane(t *testing.T) {
	t.Parallel()
	for name := range flavours() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := installed(t, name)
			p.simulate(t)
			t.Run("InvalidClaimsAreRefused", p.refused)
			parallel(t, map[string]func(*testing.T){
				"Quickstart": p.quickstart, "Scale": p.scale, "Rollout": p.rollout, "All": p.all, "Sessions": p.sessions,
				"Autoscalers": p.autoscalers,
			})
			t.Run("SeedsAreAccepted", p.seeds)
			p.breakersClosed(t)
		})
	}
}
