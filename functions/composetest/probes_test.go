package composetest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// TestProbedPorts looks at the pods in all golden files. A kubelet looks up the
// name of a probe's port among the ports of the probed container only.
func TestProbedPorts(t *testing.T) {
	files, err := filepath.Glob("../*/testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := filepath.Glob("../../cmd/koldun/render/testdata/golden/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	probes := 0
	for _, file := range slices.Concat(files, rendered) {
		for _, spec := range pods(t, file) {
			named := map[string]bool{}
			numbers := map[int32]bool{}
			for _, c := range spec.Containers {
				for _, p := range c.Ports {
					if named[p.Name] || numbers[p.ContainerPort] {
						t.Errorf("%s: container %q declares port %q (%d) again", file, c.Name, p.Name, p.ContainerPort)
					}
					named[p.Name], numbers[p.ContainerPort] = true, true
				}
			}
			for _, c := range spec.Containers {
				for _, port := range probed(c) {
					probes++
					own := slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == port.StrVal })
					if port.Type == intstr.String && !own || port.Type == intstr.Int && !numbers[port.IntVal] {
						t.Errorf("%s: container %q is asked at port %q, which is not declared", file, c.Name, port.String())
					}
				}
			}
		}
	}
	if probes == 0 {
		t.Error("no container has a probe")
	}
}

// probed are the ports that a kubelet asks.
func probed(c corev1.Container) []intstr.IntOrString {
	var out []intstr.IntOrString
	for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if p != nil && p.HTTPGet != nil {
			out = append(out, p.HTTPGet.Port)
		}
	}
	if c.Lifecycle != nil {
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil && h.HTTPGet != nil {
				out = append(out, h.HTTPGet.Port)
			}
		}
	}
	return out
}

// pods are the specs of all pods in a file, at any depth.
func pods(t *testing.T, file string) []corev1.PodSpec {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []corev1.PodSpec
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			if _, ok := v["containers"].([]any); ok {
				var spec corev1.PodSpec
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(v, &spec); err == nil {
					out = append(out, spec)
				} else {
					t.Errorf("%s: cannot read a pod: %v", file, err)
				}
				return
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	for _, part := range bytes.Split(raw, []byte("\n---\n")) {
		var v any
		if err := yaml.Unmarshal(part, &v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		walk(v)
	}
	return out
}
