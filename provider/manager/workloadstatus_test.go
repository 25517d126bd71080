package manager_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/model/progress"
)

// TestPodsAreWatched changes a pod as a kubelet does. The status follows the problem,
// and is written once for each change that lasts: other changes are no event for a
// composite.
func TestPodsAreWatched(t *testing.T) {
	w := newTenant(t)
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
	w.resources.ready(m)

	w.resources.stuck(other, "InvalidImageName") // of another workload
	w.resources.stuck(p, "ErrImagePull")
	began := time.Now()
	w.eventually("the problem", func() error { return w.resources.diagnosed("web", "ImageUnavailable") })
	t.Logf("after %s", time.Since(began).Round(100*time.Millisecond))
	w.resources.stuck(p, "ImagePullBackOff") // the same problem
	w.resources.stuck(p, "")                 // the image is there now
	w.eventually("its end", func() error { return w.resources.diagnosed("web", "") })
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
func (r *resources) diagnosed(name, want string) error {
	m := &v1alpha1.WorkloadStatus{ObjectMeta: metav1.ObjectMeta{Namespace: r.ns, Name: name}}
	if err := r.get(m); err != nil {
		return err
	}
	if got := m.Status.AtProvider; got.Reason != want {
		return fmt.Errorf("the status is %+v, want reason %q", got, want)
	}
	return nil
}

// pod creates a pod with its name as the label app.
func (ob *objects) pod(name string, ports ...corev1.ContainerPort) *corev1.Pod {
	ob.t.Helper()
	no := false
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ob.ns, Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeName: "none", AutomountServiceAccountToken: &no,
			Containers: []corev1.Container{{Name: "web", Image: "example.org/web:1", Ports: ports}},
		},
	}
	if err := ob.client.Create(ob.t.Context(), p); err != nil {
		ob.t.Fatal(err)
	}
	ob.t.Cleanup(func() { _ = ob.client.Delete(context.Background(), p, client.GracePeriodSeconds(0)) })
	return p
}

// stuck writes the status of a container that waits for a reason, or that runs if there
// is none, as a kubelet does.
func (r *resources) stuck(p *corev1.Pod, reason string) {
	r.t.Helper()
	s := corev1.ContainerStatus{Name: "web", Image: "example.org/web:1"}
	p.Status.Phase = corev1.PodPending
	if reason == "" {
		p.Status.Phase = corev1.PodRunning
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.Now()}
	} else {
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: "401 Unauthorized"}
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{s}
	if err := r.client.Status().Update(r.t.Context(), p); err != nil {
		r.t.Fatal(err)
	}
}

// TestPodsAreAsked asks a pod for its progress while it works. The status has it once
// the work has lasted for some seconds, and is written no more for each byte.
func TestPodsAreAsked(t *testing.T) {
	w := newTenant(t)
	var asked atomic.Int64
	job := httptest.NewServer(progress.Handler(func() (progress.Summary, bool) {
		return progress.Report{Stage: progress.Fetch, Phase: progress.Running, Bytes: 40 + asked.Add(1), Total: 200, BytesPerSecond: 2}.Summary()
	}))
	t.Cleanup(job.Close)
	host, port, err := net.SplitHostPort(job.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	p := w.pod("job", corev1.ContainerPort{Name: "progress", ContainerPort: int32(number)})
	p.Status.PodIP = host
	w.resources.stuck(p, "")
	w.create(&v1alpha1.WorkloadStatus{ObjectMeta: metav1.ObjectMeta{Name: "job"}, Spec: v1alpha1.WorkloadStatusSpec{
		ForProvider: v1alpha1.WorkloadStatusParameters{Selector: map[string]string{"app": "job"}, ProgressPort: "progress"},
	}})
	m := &v1alpha1.WorkloadStatus{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "job"}}
	told := func() []v1alpha1.PodProgress {
		if err := w.get(m); err != nil {
			t.Fatal(err)
		}
		return m.Status.AtProvider.Progress
	}
	w.eventually("the progress", func() error {
		at := told()
		if len(at) != 1 || at[0].Pod != "job" || at[0].Stage != "fetch" || at[0].Bytes <= 40 || at[0].Total != 200 || at[0].Percent < 20 || at[0].ETASeconds == 0 {
			return fmt.Errorf("the status is %+v", m.Status.AtProvider)
		}
		return nil
	})
	before, version := asked.Load(), m.ResourceVersion
	w.eventually("another question", func() error {
		if asked.Load() == before {
			return errors.New("the provider has not asked the pod")
		}
		return nil
	})
	if told(); m.ResourceVersion != version {
		t.Errorf("the status is written for each answer: %+v", m.Status.AtProvider)
	}
}
