package argocd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An Application is what an Application of Argo CD says of itself.
type Application struct {
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Status struct {
		Sync struct {
			Status   string `json:"status"`
			Revision string `json:"revision"`
		} `json:"sync"`
		Health       health         `json:"health"`
		ReconciledAt metav1.Time    `json:"reconciledAt"`
		Resources    []Resource     `json:"resources"`
		Operation    operation      `json:"operationState"`
		Conditions   []appCondition `json:"conditions"`
	} `json:"status"`
}

type health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type appCondition struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// An operation is the newest sync.
type operation struct {
	Phase      string      `json:"phase"`
	Message    string      `json:"message"`
	StartedAt  metav1.Time `json:"startedAt"`
	RetryCount int         `json:"retryCount"`
	SyncResult struct {
		Revision  string `json:"revision"`
		Resources []struct {
			Kind    string `json:"kind"`
			Name    string `json:"name"`
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"resources"`
	} `json:"syncResult"`
}

// A Resource is an object of an Application.
type Resource struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Status    string `json:"status"` // Synced or OutOfSync
	Health    health `json:"health"`
}

// id returns the kind and the name of an object.
func (r Resource) id() string { return r.Kind + " " + r.Name }

// Resource returns an object of the Application by kind and name, or an empty one.
func (a *Application) Resource(kind, name string) Resource {
	for _, r := range a.Status.Resources {
		if r.Kind == kind && r.Name == name {
			return r
		}
	}
	return Resource{}
}

// String says how the Application is, in one line.
func (a *Application) String() string {
	var b strings.Builder
	s := a.Status
	fmt.Fprintf(&b, "%s, %s; sync %s %q", s.Sync.Status, s.Health.Status, s.Operation.Phase, s.Operation.Message)
	for _, c := range s.Conditions {
		fmt.Fprintf(&b, "; %s: %s", c.Type, c.Message)
	}
	for _, r := range s.Resources {
		if r.Status != "Synced" || r.Health.Status != "" && r.Health.Status != "Healthy" {
			fmt.Fprintf(&b, "; %s %q %s %s: %s", r.Kind, r.Name, r.Status, r.Health.Status, r.Health.Message)
		}
	}
	return b.String()
}

// Application reads an Application.
func (a *ArgoCD) Application(ctx context.Context, name string) (*Application, error) {
	o, err := a.get(ctx, "argoproj.io/v1alpha1", "Application", Namespace, name)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	app := &Application{}
	if err := json.Unmarshal(raw, app); err != nil {
		return nil, fmt.Errorf("cannot decode Application %q: %w", name, err)
	}
	return app, nil
}

// Refresh makes Argo CD compare an Application, with the newest commit. It does not wait.
func (a *ArgoCD) Refresh(ctx context.Context, name string) error {
	return a.annotate(ctx, name, "argocd.argoproj.io/refresh", "normal")
}

// annotate sets an annotation of an Application, or removes it if the value is empty.
func (a *ArgoCD) annotate(ctx context.Context, name, key, value string) error {
	o := object("argoproj.io/v1alpha1", "Application", Namespace, name)
	annotations := fields{key: value}
	if value == "" {
		annotations[key] = nil
	}
	patch, err := json.Marshal(fields{"metadata": fields{"annotations": annotations}})
	if err != nil {
		return err
	}
	return a.Client().Patch(ctx, o, client.RawPatch("application/merge-patch+json", patch))
}

func (a *ArgoCD) get(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	o := object(apiVersion, kind, namespace, name)
	return o, a.Client().Get(ctx, client.ObjectKeyFromObject(o), o)
}

func object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// since returns the seconds since a time, for the log.
func since(begin time.Time) string { return fmt.Sprintf("%.1f s", time.Since(begin).Seconds()) }
