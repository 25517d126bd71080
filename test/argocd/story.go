package argocd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// restricted is the namespace of the example. Only restricted pods may run in it.
const restricted = "{apiVersion: v1, kind: Namespace, metadata: {name: " + namespace + ", labels: {pod-security.kubernetes.io/enforce: restricted}}}"

// A Setup is a cluster with Crossplane for the Story.
type Setup struct {
	Cluster *cluster.Cluster

	// Install holds the manifests of Koldun's packages with their wave, such as
	// argocd-install.yaml of a release, which the Application installs. It is empty if the
	// cluster has the packages: then the story tells of changes too.
	Install string

	// Services are the servers of the Application's ClusterProviderConfig, NATS in operator
	// mode. Pods reach them.
	// Without a URL of NATS, the cluster has the ClusterProviderConfig "default", which
	// allows the namespace "models" and has a hub with gorizond/koldun-tiny.
	Services platform.Services

	// HTTP reaches the Services of the cluster by their names.
	HTTP *http.Client

	// Tell prints a line of the story.
	Tell func(format string, args ...any)
}

// A story is a run of the example.
type story struct {
	*ArgoCD
	t          *testing.T
	repository *Repository
	setup      Setup
	before     map[string]bool // objects of the namespace before the Application
	seen       map[string]string
	healthy    map[string]time.Time // when an object was first seen to be healthy, by its kind and name
}

// Story tests that Argo CD brings up the example, finds no difference, and removes it. In a
// cluster with the packages Argo CD also reverts what was changed in the cluster, applies new
// commits, and refuses and reports mistakes.
func Story(t *testing.T, setup Setup) {
	s := &story{ArgoCD: Start(t, setup.Cluster), t: t, setup: setup, seen: map[string]string{}, healthy: map[string]time.Time{}}
	s.setup.Tell("Argo CD runs.")
	commit := s.prepare()
	s.syncsByWaves(commit)
	s.answers()
	s.showsNoDifference("ServerSideDiff=true")
	s.showsNoDifference("") // and so from now on: with it, what the API server refuses is no difference
	if s.setup.Install == "" {
		s.healsDrift(commit)
		s.rollsOut()
		s.refusesMistake()
		s.reportsBrokenModel()
		s.prunes()
	}
	s.deletes()
}

func (s *story) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// prepare makes the Git repository, and what the README of the example tells to create
// before the Application. It returns the first commit.
func (s *story) prepare() string {
	ctx := s.t.Context()
	r, err := NewRepository(ctx, filepath.Join(s.dir, "repository"))
	s.must(err)
	s.repository = r
	s.must(s.example(r, adaptation{install: s.setup.Install, services: s.setup.Services}))
	commit, err := r.Commit(ctx, "The example, adapted to this cluster")
	s.must(err)
	s.must(s.ApplyIn(ctx, "", restricted))
	if s.setup.Services.NATS.URL != "" {
		manifests, err := secrets(s.setup.Services)
		s.must(err)
		s.must(s.ApplyIn(ctx, namespace, manifests...))
	}
	s.before, err = s.Objects(ctx, namespace)
	s.must(err)
	for _, id := range []string{"ServiceAccount default", "ConfigMap kube-root-ca.crt"} { // Kubernetes makes them a moment later
		s.before[id] = true
	}
	app, err := s.application(r)
	s.must(err)
	s.must(s.ApplyIn(ctx, Namespace, app))
	s.setup.Tell("The Application is applied. Its repository has the example, adapted to this cluster.")
	return commit
}

// waitFor waits until the Application satisfies a check, and follows it meanwhile.
func (s *story) waitFor(what string, check func(*Application) error) *Application {
	s.t.Helper()
	var last *Application
	cluster.Eventually(s.t, what, func(ctx context.Context) error {
		app, err := s.Application(ctx, appName)
		if err != nil {
			return err
		}
		last = app
		s.follow(app)
		if err := check(app); err != nil {
			return fmt.Errorf("%w: %s", err, app)
		}
		return nil
	})
	return last
}

// follow prints changes in the health of the Application's objects, and records when each
// object is first healthy.
func (s *story) follow(app *Application) {
	s.t.Helper()
	for _, r := range app.Status.Resources {
		if _, noted := s.healthy[r.id()]; !noted && r.Health.Status == "Healthy" {
			s.healthy[r.id()] = time.Now()
		}
		if !strings.HasSuffix(r.Group, "gorizond.io") && !strings.HasSuffix(r.Group, "crossplane.io") || r.Health.Status == "" {
			continue
		}
		name, now := r.id(), strings.TrimSuffix(r.Health.Status+": "+r.Health.Message, ": ")
		if s.seen[name] != now {
			s.seen[name] = now
			s.setup.Tell("  %s: %s", name, now)
		}
	}
}

// settled is a check that a commit is synced and everything healthy.
func settled(commit string) func(*Application) error {
	return func(app *Application) error {
		switch st := app.Status; {
		case st.Sync.Revision != commit || st.Sync.Status != "Synced":
			return errors.New("the newest commit is not synced")
		case st.Operation.Phase != "Succeeded":
			return errors.New("the sync has not succeeded")
		case st.Health.Status != "Healthy":
			return errors.New("it is not healthy")
		}
		return nil
	}
}

// push commits the work tree, and makes Argo CD look at it: it does so by itself within
// minutes.
func (s *story) push(message string) string {
	s.t.Helper()
	commit, err := s.repository.Commit(s.t.Context(), message)
	s.must(err)
	s.must(s.Refresh(s.t.Context(), appName))
	s.setup.Tell("Pushed: %s.", message)
	return commit
}

// claim reads an object of the example.
func (s *story) claim(ctx context.Context, kind, name string) (*unstructured.Unstructured, error) {
	return s.get(ctx, "koldun.gorizond.io/v1", kind, namespace, name)
}

// replaced deletes an object, and waits until another one has its name.
func (s *story) replaced(apiVersion, kind, name string) {
	s.t.Helper()
	old, err := s.get(s.t.Context(), apiVersion, kind, namespace, name)
	s.must(err)
	s.must(s.Client().Delete(s.t.Context(), old))
	began := time.Now()
	cluster.Eventually(s.t, "a new "+kind, func(ctx context.Context) error {
		o, err := s.get(ctx, apiVersion, kind, namespace, name)
		if err == nil && o.GetUID() == old.GetUID() {
			err = errors.New("it is the old one")
		}
		return err
	})
	s.setup.Tell("The %s %s was deleted: another one exists after %s.", kind, name, since(began))
}

// gone waits until an object does not exist.
func (s *story) gone(o client.Object) {
	s.t.Helper()
	kind := o.GetObjectKind().GroupVersionKind().Kind
	cluster.Eventually(s.t, kind+" "+o.GetName()+" to be gone", func(ctx context.Context) error {
		err := s.Client().Get(ctx, client.ObjectKeyFromObject(o), o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it still exists: %w", err)
	})
}
