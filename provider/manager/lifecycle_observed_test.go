package manager_test

import (
	"context"
	"fmt"
	"maps"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// watched is the reason why observed kinds skip some cases.
func watched() map[string]string {
	return map[string]string{
		"drift":  "it is only observed: there is nothing to repair",
		"import": "it is only observed: nothing is ever adopted",
	}
}

func demandLifecycle() lifecycle {
	session := func(name string) string { return names.Session("ns", name, "") }
	return lifecycle{
		server:  onNATS,
		orphans: true,
		given: func(w *tenant, name string) {
			d := registry.Demand{Session: session(name), Namespace: "ns", Model: name}
			if _, err := registry.Demands(w.account.bus()).Put(w.t.Context(), session(name), d); err != nil {
				w.t.Fatal(err)
			}
		},
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.Demand{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.DemandSpec{
				ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.DemandParameters{Namespace: "ns", MaxIsolated: 8},
			}}
		},
		read: func(w *tenant, name string) (string, error) { return entryText(w, names.DemandBucket, session(name)) },
		// The status lists a session only after those requested earlier.
		matches: func(w *tenant, name string) (err error) {
			w.eventually("the session in the status", func() error {
				m := &v1alpha1.Demand{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}
				if err := w.get(m); err != nil {
					return err
				}
				for _, s := range m.Status.AtProvider.Sessions {
					if s.Key == session(name) && s.Model == name {
						return nil
					}
				}
				return fmt.Errorf("got sessions %+v", m.Status.AtProvider.Sessions)
			})
			return nil
		},
		update: func(_ *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.Demand).Spec.ForProvider.Namespace = "elsewhere"
		},
		updated: func(_ *tenant, m resource.ModernManaged, _ string) error {
			if s := m.(*v1alpha1.Demand).Status.AtProvider.Sessions; len(s) > 0 {
				return fmt.Errorf("got sessions %+v, want those of the namespace only", s)
			}
			return nil
		},
		skip: watched(),
	}
}

func poolLifecycle() lifecycle {
	members := func(m resource.ModernManaged, want int) error {
		if got := m.(*v1alpha1.Pool).Status.AtProvider.Members; len(got) != want {
			return fmt.Errorf("got members %+v, want %d", got, want)
		}
		return nil
	}
	return lifecycle{
		server:  onNATS,
		orphans: true,
		given:   func(*tenant, string) {},
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.Pool{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.PoolSpec{
				ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.PoolParameters{Session: names.Session("ns", name, ""), MinMembers: 1, MaxMembers: 2},
			}}
		},
		// Its status counts the waiting requests.
		read: func(w *tenant, _ string) (string, error) { return streamText(w, names.RequestStream) },
		matches: func(w *tenant, name string) error {
			m := &v1alpha1.Pool{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}
			if err := w.get(m); err != nil {
				return err
			}
			return members(m, 1)
		},
		update: func(_ *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.Pool).Spec.ForProvider.MinMembers = 2
		},
		updated: func(_ *tenant, m resource.ModernManaged, _ string) error { return members(m, 2) },
		skip:    watched(),
	}
}

func hubRevisionLifecycle() lifecycle {
	return lifecycle{
		server:  onHub,
		orphans: true,
		given:   func(*tenant, string) {},
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.HubRevision{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.HubRevisionSpec{
				ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.HubRevisionParameters{Source: "hf://" + w.servers.hub.Repo, Revision: "main"},
			}}
		},
		read: func(w *tenant, _ string) (string, error) { return w.servers.hub.Commit(), nil },
		matches: func(w *tenant, name string) error {
			m := &v1alpha1.HubRevision{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}
			if err := w.get(m); err != nil || m.Status.AtProvider.Commit != w.servers.hub.Commit() {
				return fmt.Errorf("the status is %+v: %w", m.Status.AtProvider, err)
			}
			return nil
		},
		update: func(w *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.HubRevision).Spec.ForProvider.Revision = w.servers.hub.Commit()
		},
		updated: func(w *tenant, m resource.ModernManaged, _ string) error {
			if o := m.(*v1alpha1.HubRevision).Status.AtProvider; o.Revision != w.servers.hub.Commit() || o.Commit != w.servers.hub.Commit() {
				return fmt.Errorf("the status is %+v", o)
			}
			return nil
		},
		// The status shows a refusal, and Synced stays true.
		denied: func(w *tenant, m resource.ModernManaged) (message string) {
			w.eventually("a refusal", func() error {
				if err := w.get(m); err != nil {
					return err
				}
				if message = m.(*v1alpha1.HubRevision).Status.AtProvider.Refusal; message == "" {
					return fmt.Errorf("no refusal in the status")
				}
				return nil
			})
			return message
		},
		skip: watched(),
	}
}

func nodeLabelRuleLifecycle() lifecycle {
	id := func(w *tenant, name string) string { return w.ns + "-" + name }
	label := func(name string) string { return "example.org/" + name }
	node := func(w *tenant, name string, more map[string]string) {
		w.t.Helper()
		labels := map[string]string{"example.org/pool": id(w, name)}
		maps.Copy(labels, more)
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: id(w, name), Labels: labels}}
		if err := w.client.Create(w.t.Context(), n); err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = w.client.Delete(context.Background(), n) })
	}
	labelled := func(w *tenant, name, want string) error {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: id(w, name)}}
		if err := w.get(n); err != nil || n.Labels[label(name)] != want {
			return fmt.Errorf("got labels %v: %w", n.Labels, err)
		}
		return nil
	}
	return lifecycle{
		server: onCluster,
		given:  func(w *tenant, name string) { node(w, name, nil) },
		exist:  func(w *tenant, name string) { node(w, name, map[string]string{label(name): "true"}) },
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.NodeLabelRule{ObjectMeta: metav1.ObjectMeta{Name: id(w, name)}, Spec: v1alpha1.NodeLabelRuleSpec{
				ForProvider: v1alpha1.NodeLabelRuleParameters{
					MatchExpressions: []v1alpha1.NodeLabelExpression{{Key: "example.org/pool", Operator: "In", Values: []string{id(w, name)}}},
					Labels:           map[string]string{label(name): "true"},
				},
			}}
		},
		read: func(w *tenant, name string) (string, error) {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: id(w, name)}}
			err := w.get(n)
			if apierrors.IsNotFound(err) || err == nil && n.Labels[label(name)] == "" {
				return "", nil
			}
			if err != nil {
				return "", err
			}
			return text(n.Labels)
		},
		matches: func(w *tenant, name string) error { return labelled(w, name, "true") },
		update: func(w *tenant, m resource.ModernManaged) {
			labels := m.(*v1alpha1.NodeLabelRule).Spec.ForProvider.Labels
			for key := range labels {
				labels[key] = "yes"
			}
		},
		updated: func(w *tenant, _ resource.ModernManaged, name string) error { return labelled(w, name, "yes") },
		drift: func(w *tenant, name string) {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: id(w, name)}}
			w.change(n, func() { delete(n.Labels, label(name)) })
		},
		skip: map[string]string{
			"outage":      "its nodes are those of the API server that it is itself on",
			"credentials": "it needs none but those of the provider in its cluster",
		},
	}
}

func workloadStatusLifecycle() lifecycle {
	return lifecycle{
		server:  onCluster,
		orphans: true,
		given:   func(w *tenant, name string) { w.pod(name) },
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.WorkloadStatus{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.WorkloadStatusSpec{
				ForProvider: v1alpha1.WorkloadStatusParameters{Selector: map[string]string{"app": name}},
			}}
		},
		read: func(w *tenant, name string) (string, error) {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}
			if err := w.get(p); err != nil {
				return "", err
			}
			return text(p.Status)
		},
		matches: func(w *tenant, name string) error {
			return w.resources.diagnosed(name, "")
		},
		update: func(_ *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.WorkloadStatus).Spec.ForProvider.Selector["version"] = "2"
		},
		updated: func(_ *tenant, m resource.ModernManaged, _ string) error {
			if s := m.(*v1alpha1.WorkloadStatus).Spec.ForProvider.Selector; s["version"] != "2" {
				return fmt.Errorf("the selector is %v", s)
			}
			return nil
		},
		skip: map[string]string{
			"drift":       "TestPodsAreWatched changes the pods",
			"import":      "there is nothing to adopt: it only observes",
			"outage":      "its pods are those of the API server that it is itself on",
			"credentials": "it needs none but those of the provider in its cluster",
		},
	}
}
