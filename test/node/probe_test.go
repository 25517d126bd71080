package node_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
)

// podSecurity is the label of a namespace that says what pods may run:
// https://kubernetes.io/docs/concepts/security/pod-security-admission/
const podSecurity = "pod-security.kubernetes.io/enforce"

// restricted makes a namespace in which only restricted pods may run, until the test ends.
func (p *pods) restricted(t *testing.T, name string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{podSecurity: "restricted"}}}
	if err := p.Client().Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Client().Delete(context.WithoutCancel(t.Context()), ns) })
}

// guardedBy returns the labels of the pods that a NetworkPolicy of a claim selects.
func (n *network) guardedBy(t *testing.T, namespace, policy string) map[string]string {
	t.Helper()
	var p networkingv1.NetworkPolicy
	if err := n.Client().Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: policy}, &p); err != nil {
		t.Fatal(err)
	}
	return p.Spec.PodSelector.MatchLabels
}

// probe starts a restricted pod of the probe with labels. It never becomes ready, so that no
// Service with these labels leads to it.
func (n *network) probe(t *testing.T, namespace, name string, labels map[string]string, args ...string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyNever,
			AutomountServiceAccountToken:  new(false),
			TerminationGracePeriodSeconds: new(int64(1)),
			ReadinessGates:                []corev1.PodReadinessGate{{ConditionType: "e2e.koldun.gorizond.io/never"}},
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "probe", Image: n.registry + "/probe:v1", Args: args,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
	if err := n.Client().Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Client().Delete(context.WithoutCancel(t.Context()), pod) })
	return pod
}

// listener starts a probe that listens at ports, and returns its address.
func (n *network) listener(t *testing.T, namespace, name string, labels map[string]string, ports ...int) string {
	t.Helper()
	var listen []string
	for _, p := range ports {
		listen = append(listen, fmt.Sprintf(":%d", p))
	}
	pod := n.probe(t, namespace, name, labels, "-listen="+strings.Join(listen, ","))
	cluster.Eventually(t, "the listener to run", func(ctx context.Context) error {
		if err := n.Client().Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "" {
			return fmt.Errorf("its phase is %s", pod.Status.Phase)
		}
		return nil
	})
	return pod.Status.PodIP
}

// reaches tests that a pod with labels connects to the open addresses, and gets no answer
// from the closed ones.
func (n *network) reaches(t *testing.T, namespace, name string, labels map[string]string, open, closed []string) {
	t.Helper()
	pod := n.probe(t, namespace, name, labels, "-open="+strings.Join(open, ","), "-closed="+strings.Join(closed, ","))
	var failed error
	cluster.Eventually(t, "the probe to end", func(ctx context.Context) error {
		if err := n.Client().Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		switch pod.Status.Phase {
		case corev1.PodSucceeded:
			return nil
		case corev1.PodFailed:
			failed = fmt.Errorf("probe %q has failed", name)
			if s := pod.Status.ContainerStatuses; len(s) > 0 && s[0].State.Terminated != nil {
				failed = errors.New(s[0].State.Terminated.Message)
			}
			return nil
		default:
			return fmt.Errorf("its phase is %s", pod.Status.Phase)
		}
	})
	if failed != nil {
		t.Fatalf("pod %q: %v", name, failed)
	}
	told := fmt.Sprintf("  %s reaches %s", name, strings.Join(open, ", "))
	if len(closed) > 0 {
		told += ", but not " + strings.Join(closed, ", ")
	}
	tell("%s", told)
}
