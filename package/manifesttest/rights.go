package manifesttest

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// A Bootstrap is a Job that makes Secrets, with its rights.
type Bootstrap struct {
	Account corev1.ServiceAccount
	Role    rbacv1.Role
	Binding rbacv1.RoleBinding
	Job     batchv1.Job
}

// MakesOnly checks that the Job runs koldun with these arguments, and that it may create
// Secrets, read those of these names, change some of them, and do nothing else.
func (b *Bootstrap) MakesOnly(t *testing.T, secrets, args []string, changed ...string) {
	t.Helper()
	want := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: secrets, Verbs: []string{"get"}},
	}
	if len(changed) > 0 {
		want = append(want, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: changed, Verbs: []string{"patch"}})
	}
	if !slices.EqualFunc(b.Role.Rules, want, func(a, b rbacv1.PolicyRule) bool { return a.String() == b.String() }) {
		t.Errorf("the rights are %v, want %v", b.Role.Rules, want)
	}
	pod, subjects := b.Job.Spec.Template.Spec, b.Binding.Subjects
	if b.Binding.RoleRef.Name != b.Role.Name || len(subjects) != 1 || subjects[0].Name != b.Account.Name || subjects[0].Namespace != b.Job.Namespace ||
		pod.ServiceAccountName != b.Account.Name {
		t.Errorf("the Role is bound to %v, and the Job runs as %q", subjects, pod.ServiceAccountName)
	}
	if found := pod.Containers[0].Args; !slices.Equal(found, args) {
		t.Errorf("the Job runs koldun %v, want %v", found, args)
	}
}
