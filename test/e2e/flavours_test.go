package e2e_test

import (
	"testing"

	"github.com/gorizond/koldun/test/cluster"
)

const api = "koldun.gorizond.io/v1"

// A proof is one flavour of the packages on a cluster of its own.
type proof struct {
	*cluster.Cluster
	flavour
}

// TestOnCrossplane shows that both flavours do the same with the same
// manifests.
func TestOnCrossplane(t *testing.T) {
	files := build(t)
	for name, f := range map[string]flavour{
		"Namespaced": {
			configuration: "koldun-configuration",
			conditions:    []string{"Established"},
		},
		"Claims": {
			configuration: "koldun-configuration-claims",
			prefix:        "x",
			conditions:    []string{"Established", "Offered"},
			manifests:     []string{"package/rbac-claims.yaml"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster.Start(t, cluster.Options{})
			p := &proof{Cluster: c, flavour: f}
			p.install(t, files)
			t.Run("InvalidClaimsAreRefused", p.refused)
			t.Run("SeedsAreAccepted", p.seeds)
		})
	}
}
