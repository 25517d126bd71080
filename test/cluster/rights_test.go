package cluster_test

import (
	"os"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/test/cluster"
)

// Crossplane must have no more rights than on a real cluster. Otherwise tests would not
// notice that a package does not request one.
func TestCrossplaneHasOnlyGivenRights(t *testing.T) {
	c := shared.Cluster(t)
	rights, err := os.ReadFile("testdata/rights.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), string(rights)); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		account, verb, group, resource string
		want                           bool
	}{
		"Chart":            {"crossplane", "create", "apps", "deployments", true},
		"Ours":             {"crossplane", "create", "apps", "statefulsets", true},
		"Nobodys":          {"crossplane", "create", "apps", "daemonsets", false},
		"Pods":             {"crossplane", "list", "", "pods", false},
		"Roles":            {"crossplane", "create", "rbac.authorization.k8s.io", "clusterroles", false},
		"RBACManager":      {"rbac-manager", "escalate", "rbac.authorization.k8s.io", "clusterroles", true},
		"RBACManagersPods": {"rbac-manager", "list", "", "pods", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			review := func() bool {
				r := &authorizationv1.SubjectAccessReview{
					ObjectMeta: metav1.ObjectMeta{},
					Spec: authorizationv1.SubjectAccessReviewSpec{
						User:               "system:serviceaccount:" + cluster.SystemNamespace + ":" + tc.account,
						ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: tc.verb, Group: tc.group, Resource: tc.resource, Namespace: "default"},
					},
				}
				if err := c.Client().Create(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				return r.Status.Allowed
			}
			if !tc.want {
				if review() {
					t.Errorf("%s may %s %s", tc.account, tc.verb, tc.resource)
				}
				return
			}
			cluster.Eventually(t, "the right", allowed(review))
		})
	}
}
