package node_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/node/kubernetes"
)

// A mistake is what a user gets wrong, what the condition Serving of the claim says of it,
// and what ends it.
type mistake struct {
	kind, spec string
	reason     string
	says       []string
	mend       string // a merge patch of the spec, after which the claim is served; empty: none
	onDisk     bool   // needs a full volume
}

// mistakes are those that only a kubelet, a container runtime or a disk finds.
func (cl *claims) mistakes() map[string]mistake {
	const tiny = "sourceUrl: https://huggingface.co/gorizond/koldun-tiny, conversion: {weightsFloatType: q40}"
	absent := cl.registry + "/absent:v1"
	return map[string]mistake{
		"image": {
			kind: "Dllama", spec: "modelRef: {name: tiny}, rootImage: '" + absent + "'",
			reason: "ImageUnavailable", says: []string{absent, "not found", "correct spec.rootImage"},
			mend: `{"rootImage":null}`,
		},
		"repository": {
			kind: "Dllama", spec: "model: {sourceUrl: https://huggingface.co/gorizond/absent}",
			reason: "ModelFailed", says: []string{"RevisionUnavailable", `repository "gorizond/absent"`, "check its name"},
			mend: `{"model":{"sourceUrl":"https://huggingface.co/gorizond/koldun-tiny"}}`,
		},
		"request": {
			kind: "Dllama", spec: "modelRef: {name: tiny}, rootResources: {requests: {memory: 100Ti}}",
			reason: "Unschedulable", says: []string{"no node has 100.0 TiB of memory", "lower the requests in spec.rootResources"},
			mend: `{"rootResources":null}`,
		},
		"memory": {
			kind: "Ingress", spec: "backend: {resources: {limits: {memory: 8Mi}}}",
			reason: "OutOfMemory", says: []string{"memory limit of 8Mi", "raise spec.backend.resources.limits.memory"},
			mend: `{"backend":{"resources":null}}`,
		},
		"sandbox": { // not even the pause container fits into it
			kind: "Ingress", spec: "backend: {resources: {limits: {memory: 1Mi}}}",
			reason: "OutOfMemory", says: []string{"memory limit of 1Mi", "raise spec.backend.resources.limits.memory"},
			mend: `{"backend":{"resources":null}}`,
		},
		"evicted": {
			kind: "Dllama", spec: "rootImage: '" + cl.registry + "/probe:v1', rootResources: {limits: {ephemeral-storage: 1Mi}}, engine: {type: openai, server: " +
				"{profile: generic, source: download, model: org/none, command: [/probe], args: ['-fill=$(KOLDUN_DIR_CACHE)']}}",
			reason: "PodEvicted", says: []string{"ephemeral", "1Mi", "raise the limit of ephemeral-storage in spec.rootResources"},
		},
		"disk": {
			kind: "ModelDownload", spec: "storagePVC: full, models: [{name: gorizond/koldun-tiny}]",
			reason: "StorageFull", says: []string{"no space left on device", "enlarge the volume"}, onDisk: true,
		},
		"volume": {
			kind: "Dllama", spec: "model: {" + tiny + ", pv: {pvcStorageClassName: " + kubernetes.FullClass + ", pvcCapacity: 2Mi}}, delivery: pvc",
			reason: "ModelFailed", says: []string{"VolumeFailed", "no space left on device", "enlarge the volume"}, onDisk: true,
		},
	}
}

// fullVolume is a PersistentVolumeClaim whose volume has no room for a model.
const fullVolume = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: full}
spec: {storageClassName: ` + kubernetes.FullClass + `, accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Mi}}}
`

// TestMistakes makes all mistakes at the same time. The condition of each claim says what is
// wrong, in terms of the claim, and the claim is served once the user has done what it says.
func TestMistakes(t *testing.T) {
	w := koldun(t)
	t.Parallel()
	tell("Mistakes: the conditions of claims tell what is wrong, and the claims are served once it is mended.")
	const ns = "mistakes"
	w.NamespaceCalled(t, ns) // not restricted: the server of one Dllama is of an image that needs root
	if w.node != nil {
		if err := w.node.AddFullVolumes(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	shared := fullVolume + "---\n" + claim("Model", "tiny", "sourceUrl: https://huggingface.co/gorizond/koldun-tiny, conversion: {weightsFloatType: q40}")
	if err := w.ApplyIn(t.Context(), ns, shared); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for name, m := range w.claims.mistakes() {
		if m.onDisk && w.node == nil {
			tell("Mistakes: %s is left out: this cluster has no full volume", name)
			continue
		}
		all.Go(func() { w.claims.mistake(t, ns, name, m) })
	}
	all.Wait()
	if t.Failed() {
		w.claims.describe(t, ns, "dllamas,models,ingresses.koldun.gorizond.io,modeldownloads")
	}
}

func claim(kind, name, spec string) string {
	return fmt.Sprintf("apiVersion: koldun.gorizond.io/v1\nkind: %s\nmetadata: {name: %s}\nspec: {%s}\n", kind, name, spec)
}

// mistake makes a mistake, and mends it.
func (cl *claims) mistake(t *testing.T, ns, name string, m mistake) {
	began := time.Now()
	if err := cl.ApplyIn(t.Context(), ns, claim(m.kind, name, m.spec)); err != nil {
		t.Error(err)
		return
	}
	told, err := cl.tells(t.Context(), ns, name, m.kind, func(status, reason, message string) bool {
		for _, s := range m.says {
			if !strings.Contains(message, s) {
				return false
			}
		}
		return status == "False" && reason == m.reason
	})
	if err != nil {
		t.Errorf("mistake %q, of which %s and %q are to be told: %v", name, m.reason, m.says, err)
		return
	}
	tell("Mistakes: %s: told after %s: %s", name, time.Since(began).Round(time.Second), told)
	if m.mend == "" {
		return
	}
	began = time.Now()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":`+m.mend+`}`))
	if err := cl.Client().Patch(t.Context(), object(ns, name, m.kind), patch); err != nil {
		t.Error(err)
		return
	}
	if _, err := cl.tells(t.Context(), ns, name, m.kind, func(status, _, _ string) bool { return status == "True" }); err != nil {
		t.Errorf("mistake %q, mended by %s: %v", name, m.mend, err)
		return
	}
	tell("Mistakes: %s: mended by %s, and served after %s", name, m.mend, time.Since(began).Round(time.Second))
}
