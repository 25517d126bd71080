package main

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/prerequisites"
)

// The provider looks for exactly the rights that package/rbac.yaml gives Crossplane.
func TestRightsOfCrossplaneArePrerequisites(t *testing.T) {
	raw, err := os.ReadFile("../rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	granted, needed := map[string]bool{}, map[string]bool{}
	for _, document := range strings.Split(string(raw), "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		if role.Name != "koldun:aggregate-to-crossplane" {
			continue
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				granted[rule.APIGroups[0]+"/"+resource] = true
			}
		}
	}
	for _, n := range prerequisites.All() {
		needed[n.Group+"/"+n.Resource] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(granted)), slices.Sorted(maps.Keys(needed))); diff != "" {
		t.Errorf("rights differ (-granted +looked for):\n%s", diff)
	}
}
