package e2e_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// symptoms keep when Kubernetes showed something wrong with an object or a pod for the
// first time. It is safe for concurrent use.
type symptoms struct {
	mu    sync.Mutex
	first map[string]time.Time // by namespace/name
}

// watchSymptoms watches all pods and warnings until the test ends.
func (p *suite) watchSymptoms(t *testing.T) *symptoms {
	t.Helper()
	clients, err := kubernetes.NewForConfig(p.Config())
	if err != nil {
		t.Fatal(err)
	}
	s := &symptoms{first: map[string]time.Time{}}
	add := func(obj any) {
		switch o := obj.(type) {
		case *corev1.Pod:
			if ill(o) {
				s.note(o.Namespace, o.Name)
			}
		case *corev1.Event:
			s.note(o.InvolvedObject.Namespace, o.InvolvedObject.Name)
		}
	}
	all := informers.NewSharedInformerFactory(clients, 0)
	warnings := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("type", corev1.EventTypeWarning).String()
	}))
	for _, i := range []cache.SharedIndexInformer{all.Core().V1().Pods().Informer(), warnings.Core().V1().Events().Informer()} {
		if _, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []informers.SharedInformerFactory{all, warnings} {
		f.Start(t.Context().Done())
		t.Cleanup(f.Shutdown)
	}
	return s
}

func (s *symptoms) note(ns, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key := ns + "/" + name; s.first[key].IsZero() {
		s.first[key] = time.Now()
	}
}

// since returns the first symptom of what a claim composed, between two times; the first
// of these if there was none.
func (s *symptoms) since(began, named time.Time, ns, claim string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := named
	for key, at := range s.first {
		if strings.HasPrefix(key, ns+"/"+claim+"-") && at.Before(first) {
			first = at
		}
	}
	if first.Equal(named) {
		return began
	}
	return first
}

// ill reports whether a pod, or a container of it, does not run as it should.
func ill(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return true
		}
	}
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for _, c := range list {
			w, now, last := c.State.Waiting, c.State.Terminated, c.LastTerminationState.Terminated
			if w != nil && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating" || now != nil && now.ExitCode != 0 || last != nil && last.ExitCode != 0 {
				return true
			}
		}
	}
	return p.Status.Phase == corev1.PodFailed
}
