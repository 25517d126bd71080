package manager_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// TestPodsAreWatched changes a pod as a kubelet does. The status follows the problem,
// and is written once for each change that lasts: other changes are no event for a
// composite.
func TestPodsAreWatched(t *testing.T) {
	w := newWorld(t)
	p, other := w.pod("web"), w.pod("other")
	c, err := client.NewWithWatch(w.cluster.Config(), client.Options{Scheme: w.client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	seen, err := c.Watch(t.Context(), &v1alpha1.WorkloadStatusList{}, client.InNamespace(w.ns))
	if err != nil {
		t.Fatal(err)
	}
	composite := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "composite"}}
	w.create(composite)
	m := &v1alpha1.WorkloadStatus{ObjectMeta: metav1.ObjectMeta{Name: "web", OwnerReferences: []metav1.OwnerReference{
		*metav1.NewControllerRef(composite, corev1.SchemeGroupVersion.WithKind("ConfigMap")),
	}}, Spec: v1alpha1.WorkloadStatusSpec{ForProvider: v1alpha1.WorkloadStatusParameters{Selector: map[string]string{"app": "web"}}}}
	w.create(m)
	w.ready(m)

	w.stuck(other, "InvalidImageName") // of another workload
	w.stuck(p, "ErrImagePull")
	began := time.Now()
	w.eventually("the problem", func() error { return w.diagnosed("web", "ImageUnavailable") })
	t.Logf("after %s", time.Since(began).Round(100*time.Millisecond))
	w.stuck(p, "ImagePullBackOff") // the same problem
	w.stuck(p, "")                 // the image is there now
	w.eventually("its end", func() error { return w.diagnosed("web", "") })
	if err := w.get(m); err != nil {
		t.Fatal(err)
	}
	if m.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		t.Errorf("the conditions are %+v", m.Status.Conditions)
	}
	w.delete(m)
	w.gone(m)
	writes := []string{}
	for event := range seen.ResultChan() {
		if got, ok := event.Object.(*v1alpha1.WorkloadStatus); ok && event.Type == watch.Modified {
			writes = append(writes, fmt.Sprintf("%s %q", got.GetCondition(xpv2.TypeReady).Status, got.Status.AtProvider.Reason))
		}
		if event.Type == watch.Deleted {
			break
		}
	}
	seen.Stop()
	if got, want := strings.Join(writes, ", "), `True "", False "ImageUnavailable", True ""`; got != want {
		t.Errorf("writes: %s, want %s", got, want)
	}
}

// diagnosed returns an error unless a WorkloadStatus has the reason.
func (w *world) diagnosed(name, want string) error {
	m := &v1alpha1.WorkloadStatus{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}
	if err := w.get(m); err != nil {
		return err
	}
	if got := m.Status.AtProvider; got.Reason != want {
		return fmt.Errorf("the status is %+v, want reason %q", got, want)
	}
	return nil
}

// pod creates a pod with its name as the label app.
func (w *world) pod(name string) *corev1.Pod {
	w.t.Helper()
	no := false
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeName: "none", AutomountServiceAccountToken: &no,
			Containers: []corev1.Container{{Name: "web", Image: "example.org/web:1"}},
		},
	}
	if err := w.client.Create(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = w.client.Delete(context.Background(), p, client.GracePeriodSeconds(0)) })
	return p
}

// stuck writes the status of a container that waits for a reason, or that runs if there
// is none, as a kubelet does.
func (w *world) stuck(p *corev1.Pod, reason string) {
	w.t.Helper()
	s := corev1.ContainerStatus{Name: "web", Image: "example.org/web:1"}
	p.Status.Phase = corev1.PodPending
	if reason == "" {
		p.Status.Phase = corev1.PodRunning
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.Now()}
	} else {
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: "401 Unauthorized"}
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{s}
	if err := w.client.Status().Update(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
}
