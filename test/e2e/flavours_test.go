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
	*objects
	*simulation
	installer *installer
	budgets   *budgets
	cleanup   *cleanup
	mistakes  *mistakes
	processes *processes
	recorder  *recorder
}

// newSuite returns a suite of one test on a cluster.
func newSuite(c *cluster.Cluster, f flavour, made programs) *suite {
	o := &objects{Cluster: c, flavour: f}
	s := &suite{objects: o, installer: &installer{objects: o, programs: made}, budgets: &budgets{objects: o}, cleanup: &cleanup{objects: o}}
	s.processes = &processes{objects: o, installer: s.installer, cleanup: s.cleanup}
	s.mistakes = &mistakes{objects: o, processes: s.processes}
	return s
}

// objects are what the API server holds.
type objects struct {
	*cluster.Cluster
	flavour
	watched []schema.GroupVersionResource // kinds that Koldun creates
}

// An installer installs the packages.
type installer struct {
	*objects
	programs         programs
	function         *cluster.Process
	providerIdentity string // kubeconfig of the Provider's service account
}

// budgets are Crossplane's budgets of reconciles.
type budgets struct {
	*objects
	counter *budget.Counter
	opened  float64 // how often circuit breakers had opened when the test began
}

// A cleanup leaves a cluster that tests share as it was after the installation.
type cleanup struct {
	*objects
	shared bool // with other tests
}

// mistakes are what users get wrong.
type mistakes struct {
	*objects
	processes *processes
}

// processes are those of tests without simulation.
type processes struct {
	*objects
	installer *installer
	cleanup   *cleanup
	services  *services
	node      *node.Node
	providers []*cluster.Process
}

// noneOpened tests that no circuit breaker has opened, and logs the lowest budget.
func (b *budgets) noneOpened(t *testing.T) {
	t.Helper()
	opens := b.opens(t) - b.opened
	composite, left := b.counter.Lowest()
	t.Logf("lowest budget of %d: %.0f, of %s", int(budget.Burst), left, composite)
	if opens > 0 {
		t.Errorf("circuit breakers opened %v times:\n%s", opens, b.counter.Report(""))
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
			p.budgets.noneOpened(t)
		})
	}
}
