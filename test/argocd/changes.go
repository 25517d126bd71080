package argocd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/test/cluster"
)

// second is the folder of a second model in the Git repository.
const second = "second"

// kustomization writes the Kustomization of the cluster with more folders and patches.
func (s *story) kustomization(resources []string, patches ...fields) {
	s.t.Helper()
	k := adaptation{install: s.setup.Install, services: s.setup.Services}.kustomization()
	k["resources"] = append(k["resources"].([]string), resources...)
	k["patches"] = append(k["patches"].([]fields), patches...)
	s.must(writeKustomization(s.repository, overlay, k))
}

// twoThreads is a patch that makes the example's Dllama compute in two threads.
func twoThreads() fields {
	return change("koldun.gorizond.io", "v1", "Dllama", "tinyllama", fields{"engine": fields{"threads": 2}})
}

// rollsOut tests that a commit that changes a claim replaces its pods.
func (s *story) rollsOut() {
	began := time.Now()
	s.kustomization(nil, twoThreads())
	commit := s.push("two threads for the Dllama")
	s.waitFor("the new commit to be served", settled(commit))
	s.setup.Tell("Synced and healthy after %s.", since(began))
	// A Dllama counts as ready until its StatefulSet reports the change, so Healthy may come
	// up to a second before the pods are replaced.
	cluster.Eventually(s.t, "the StatefulSet to be rolled out", func(ctx context.Context) error {
		set, err := s.get(ctx, "apps/v1", "StatefulSet", namespace, "tinyllama-root")
		if err != nil {
			return err
		}
		status, _, _ := unstructured.NestedMap(set.Object, "status")
		if status["currentRevision"] != status["updateRevision"] || status["availableReplicas"] != status["replicas"] || status["observedGeneration"] != set.GetGeneration() {
			return fmt.Errorf("its status is %v", status)
		}
		if pod := fmt.Sprint(set.Object["spec"].(fields)["template"]); !strings.Contains(pod, "threads") {
			return fmt.Errorf("its pods do not compute in two threads: %s", pod)
		}
		return nil
	})
	s.waitFor("the Application to be healthy after the rollout", settled(commit))
	s.setup.Tell("Rolled out after %s.", since(began))
	s.answers()
}

// refusesMistake tests that a commit that the API server refuses changes nothing, that the
// Application says why, and that the next commit mends it.
func (s *story) refusesMistake() {
	began := time.Now()
	s.kustomization(nil, twoThreads(), change("koldun.gorizond.io", "v1", "Dllama", "tinyllama", fields{"nodes": 2}))
	s.push("both nodes and replicaPower for the Dllama")
	const says = "give either nodes or replicaPower, not both"
	s.waitFor("the refusal", func(app *Application) error {
		text := app.Status.Operation.Message
		for _, r := range app.Status.Operation.SyncResult.Resources {
			text += " " + r.Message
		}
		if !strings.Contains(text, says) {
			return errors.New("it does not say that the API server refuses the commit")
		}
		return nil
	})
	s.setup.Tell("After %s the sync says: %s.", since(began), says)
	s.answers()
	began = time.Now()
	s.kustomization(nil, twoThreads())
	commit := s.push("the mistake is taken back")
	s.waitFor("the mended commit to be synced", settled(commit))
	s.setup.Tell("Synced and healthy after %s.", since(began))
}

// reportsBrokenModel tests that a commit with a model that does not exist makes the
// Application Degraded, with the message of the Model, while the first model is served, and
// that the next commit mends it.
func (s *story) reportsBrokenModel() {
	ctx := s.t.Context()
	began := time.Now()
	s.writeSecond("koldun-missing")
	s.push("a second model, with a mistake in its URL")
	app := s.waitFor("the Application to be degraded", func(app *Application) error {
		if app.Status.Health.Status != "Degraded" || app.Resource("Model", second).Health.Status != "Degraded" {
			return errors.New("it is not degraded")
		}
		return nil
	})
	message := app.Resource("Model", second).Health.Message
	s.setup.Tell("Degraded after %s.", since(began))
	if !strings.Contains(message, "koldun-missing") {
		s.t.Errorf("the message of the Model does not name the repository: %q", message)
	}
	if _, err := s.claim(ctx, "Dllama", second); !apierrors.IsNotFound(err) {
		s.t.Errorf("the wave of the Dllama began, though the Model is degraded: %v", err)
	}
	s.answers()
	began = time.Now()
	s.writeSecond("koldun-tiny")
	commit := s.push("the URL is mended")
	s.waitFor("the mended commit to be synced", settled(commit))
	s.setup.Tell("Synced and healthy after %s.", since(began))
}

// writeSecond writes a second Model and Dllama, with the waves of the first.
func (s *story) writeSecond(repository string) {
	s.t.Helper()
	s.must(s.repository.Write(second+"/claims.yaml", fmt.Sprintf(`apiVersion: koldun.gorizond.io/v1
kind: Model
metadata: {name: %[1]s, namespace: %[2]s, annotations: {%[3]s: "0"}}
spec: {sourceUrl: %[4]s, conversion: {weightsFloatType: q40}}
---
apiVersion: koldun.gorizond.io/v1
kind: Dllama
metadata: {name: %[1]s, namespace: %[2]s, annotations: {%[3]s: "1"}}
spec: {modelRef: {name: %[1]s}}
`, second, namespace, waveAnnotation, source(repository))))
	s.must(writeKustomization(s.repository, second, fields{"resources": []string{"claims.yaml"}}))
	s.kustomization([]string{"../" + second}, twoThreads())
}

// prunes tests that claims that leave the Git repository leave the cluster.
func (s *story) prunes() {
	began := time.Now()
	s.kustomization(nil, twoThreads())
	commit := s.push("without the second model")
	s.waitFor("the second model to be pruned", settled(commit))
	for _, kind := range []string{"Dllama", "Model"} {
		s.gone(object("koldun.gorizond.io/v1", kind, namespace, second))
	}
	s.setup.Tell("Pruned after %s.", since(began))
	s.noneOf(second)
	s.answers()
}

// noneOf waits until nothing of a name, or composed of it, is in the namespace.
func (s *story) noneOf(name string) {
	s.t.Helper()
	s.onlyThose("nothing to be left of "+name, func(id string) bool {
		_, own, _ := strings.Cut(id, " ")
		return own != name && !strings.HasPrefix(own, name+"-")
	})
}

// onlyThose waits until all objects of the namespace are allowed.
func (s *story) onlyThose(what string, allowed func(id string) bool) {
	s.t.Helper()
	cluster.Eventually(s.t, what, func(ctx context.Context) error {
		now, err := s.Objects(ctx, namespace)
		if err != nil {
			return err
		}
		var left []string
		for id := range now {
			if !allowed(id) {
				left = append(left, id)
			}
		}
		if len(left) > 0 {
			slices.Sort(left)
			return fmt.Errorf("there are %s", strings.Join(left, ", "))
		}
		return nil
	})
}
