package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// TestChartUpgradesServers upgrades a release that brought NATS and the object store: their
// Jobs are replaced, NATS stays as it is, and the store, which is in Koldun's image, becomes the
// new one. Helm refuses a number of NATS servers
// with which streams would be lost, and changes nothing then.
func TestChartUpgradesServers(t *testing.T) {
	c := shared.Cluster(t)
	run := release(t, c)
	// Other tests may have left the namespaces.
	run("install", "v0.0.0", "", "--take-ownership", "--set", "crossplane.install=false,packages.install=false,nats.install=true,s3.install=true,s3.size=7Gi")
	servers := statefulSets(t, c)
	if servers["nats"].Generation == 0 || servers["s3"].Generation == 0 {
		t.Fatalf("the release has the servers %v", servers)
	}

	run("upgrade", "v0.0.1", "", "--reset-then-reuse-values")
	for name, after := range statefulSets(t, c) {
		before := servers[name]
		if after.UID != before.UID || name == "nats" && after.Generation != before.Generation {
			t.Errorf("StatefulSet %q has generation %d of %s, want %d of %s: the upgrade restarts the servers", name, after.Generation, after.UID, before.Generation, before.UID)
		}
		if image := after.Spec.Template.Spec.Containers[0].Image; name == "s3" && !strings.HasSuffix(image, ":v0.0.1") {
			t.Errorf("the store runs %q after the upgrade", image)
		}
		var jobs batchv1.JobList
		if err := c.Client().List(t.Context(), &jobs, client.InNamespace(name)); err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs.Items {
			if j.DeletionTimestamp != nil {
				continue
			}
			if image := j.Spec.Template.Spec.Containers[0].Image; !strings.HasSuffix(j.Name, "-0-0-1") || !strings.HasSuffix(image, ":v0.0.1") {
				t.Errorf("Job %q has the image %q, want those of v0.0.1 only", j.Name, image)
			}
		}
		if len(jobs.Items) == 0 {
			t.Errorf("there is no Job in the namespace %q", name)
		}
	}

	run("upgrade", "v0.0.1", "nats.replicas is 1, and this cluster has 3", "--reset-then-reuse-values", "--set", "nats.replicas=1")
	run("upgrade", "v0.0.1", "", "--reset-then-reuse-values", "--set", "nats.replicas=5")
	connected := c.Kubectl(t, "get", "clusterproviderconfigs.koldun.m.gorizond.io", "default", "--output=jsonpath={.spec.nats.operator.servers}")
	if n := *statefulSets(t, c)["nats"].Spec.Replicas; n != 5 || connected != "5" {
		t.Errorf("there are %d servers of NATS, and the connection has %s, want 5", n, connected)
	}
	run("upgrade", "v0.0.1", "nats.replicas is 3, and this cluster has 5: fewer servers would lose streams", "--reset-then-reuse-values", "--set", "nats.replicas=3")
}

// TestChartKeepsASingleServer tests that Helm refuses to make several NATS servers of one.
func TestChartKeepsASingleServer(t *testing.T) {
	run := release(t, shared.Cluster(t))
	run("install", "v0.0.0", "", "--take-ownership", "--set", "crossplane.install=false,packages.install=false,nats.install=true,nats.replicas=1")
	run("upgrade", "v0.0.0", "nats.replicas is 3, and this cluster has 1: fewer servers would lose streams, and a single one cannot become several. Set nats.replicas=1", "--reset-then-reuse-values", "--set", "nats.replicas=3")
	run("upgrade", "v0.0.0", "", "--reset-then-reuse-values")
}

// release returns a function that runs a command of Helm on Koldun's chart of a version, and
// checks how it fails, if want is not empty. The release is gone when the test ends.
func release(t *testing.T, c *cluster.Cluster) func(command, version, want string, args ...string) {
	t.Helper()
	helm, err := platform.NewHelm("../..", c.Kubeconfig(), t.TempDir())
	if err != nil {
		cluster.Missing(t, "helm", "make bin/helm")
	}
	charts := map[string]string{}
	for _, version := range []string{"v0.0.0", "v0.0.1"} {
		if charts[version], err = platform.Chart(t.Context(), "../..", t.TempDir(), version); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if _, err := helm.Run(ctx, "upgrade", charts["v0.0.0"], "--reset-then-reuse-values", "--set", "keep=false,nats.install=false,s3.install=false"); err != nil {
			t.Error(err)
		}
		if _, err := helm.Run(ctx, "uninstall"); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"nats", "s3"} {
			_ = c.Client().Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		for _, name := range []string{"nats", "s3"} {
			cluster.Eventually(t, "namespace "+name+" to be gone", func(context.Context) error {
				err := c.Client().Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{})
				if !apierrors.IsNotFound(err) {
					return fmt.Errorf("it exists: %w", err)
				}
				return nil
			})
		}
	})
	return func(command, version, want string, args ...string) {
		t.Helper()
		_, err := helm.Run(t.Context(), command, append(args, charts[version])...)
		switch {
		case want == "" && err != nil:
			t.Fatal(err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("helm %s %v: the error is %v, want it to say %q", command, args, err, want)
		}
	}
}

// statefulSets returns the servers of the release by their names.
func statefulSets(t *testing.T, c *cluster.Cluster) map[string]appsv1.StatefulSet {
	t.Helper()
	out := map[string]appsv1.StatefulSet{}
	for _, name := range []string{"nats", "s3"} {
		var s appsv1.StatefulSet
		if err := c.Client().Get(t.Context(), client.ObjectKey{Namespace: name, Name: name}, &s); err != nil {
			t.Fatal(err)
		}
		out[name] = s
	}
	return out
}
