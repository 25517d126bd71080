// Package manifesttest checks folders of manifests that users apply with kubectl.
package manifesttest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Read decodes every object of the folder strictly: a wrong field is an error. It decodes
// them into the values for "KIND NAME", which have to be all that there are. Every object
// but a Namespace is in namespace.
func Read(t *testing.T, namespace string, into map[string]any) {
	t.Helper()
	for _, file := range Resources(t) {
		for text := range strings.SplitSeq(Content(t, file), "\n---\n") {
			var o struct {
				metav1.TypeMeta   `json:",inline"`
				metav1.ObjectMeta `json:"metadata"`
			}
			if err := yaml.Unmarshal([]byte(text), &o); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			id := o.Kind + " " + o.Name
			if into[id] == nil {
				t.Fatalf("%s: %s is unknown to this test or twice in the manifests", file, id)
			}
			if err := yaml.UnmarshalStrict([]byte(text), into[id]); err != nil {
				t.Errorf("%s: %s: %v", file, id, err)
			}
			if o.Kind != "Namespace" && o.Namespace != namespace {
				t.Errorf("%s is in namespace %q", id, o.Namespace)
			}
			delete(into, id)
		}
	}
	for id := range into {
		t.Errorf("the manifests have no %s", id)
	}
}

// Content returns a file.
func Content(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Resources returns the files of the kustomization, which has to list all.
func Resources(t *testing.T) []string {
	t.Helper()
	var k struct {
		metav1.TypeMeta `json:",inline"`
		Resources       []string `json:"resources"`
	}
	if err := yaml.UnmarshalStrict([]byte(Content(t, "kustomization.yaml")), &k); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	listed := append(slices.Clone(k.Resources), "kustomization.yaml")
	slices.Sort(listed)
	if !slices.Equal(files, listed) {
		t.Errorf("the folder has %v, and the kustomization lists %v", files, listed)
	}
	return k.Resources
}

// Restricted checks that a namespace which enforces the Pod Security Standard "restricted"
// accepts the pod, and that it cannot write to its image or use all memory.
func Restricted(t *testing.T, name string, pod corev1.PodSpec) {
	t.Helper()
	s := pod.SecurityContext
	if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.RunAsUser == nil || *s.RunAsUser == 0 ||
		s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("%s: the security context of the pod is %+v", name, s)
	}
	for _, c := range pod.Containers {
		s := c.SecurityContext
		if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem ||
			s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 {
			t.Errorf("%s: the security context of container %s is %+v", name, c.Name, s)
		}
		if c.Resources.Limits.Memory().IsZero() {
			t.Errorf("%s: container %s may use all memory", name, c.Name)
		}
	}
}
