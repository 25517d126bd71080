package diagnose_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
)

func TestRefusedArguments(t *testing.T) {
	usage := "usage: api_server.py [-h] [--model MODEL]\n" + strings.Repeat("                     [--option OPTION]\n", 40)
	cases := map[string]struct {
		words, says string // says is empty if no argument is refused
	}{
		"Argparse":      {usage + "api_server.py: error: unrecognized arguments: --nonsense 7", "unrecognized arguments: --nonsense 7"},
		"ArgparseValue": {usage + "api_server.py: error: argument --dtype: invalid choice: 'f9' (choose from 'auto')", "argument --dtype: invalid choice: 'f9'"},
		"Clap":          {"error: unexpected argument '--nonsense' found\n\nUsage: text-generation-launcher [OPTIONS]", "unexpected argument '--nonsense' found"},
		"ClapValue":     {"error: invalid value 'x' for '--port <PORT>': invalid digit\nFor more information, try '--help'.", "invalid value 'x' for '--port <PORT>'"},
		"Flag":          {"flag provided but not defined: -nonsense\nUsage of server:", "flag provided but not defined: -nonsense"},
		"Pflag":         {"Error: unknown flag: --nonsense\nUsage:", "unknown flag: --nonsense"},
		"LlamaCpp":      {"load_backend: loaded CPU\nerror: invalid argument: --nonsense", "invalid argument: --nonsense"},
		"AnotherEnd":    {"Traceback (most recent call last):\nRuntimeError: out of memory", ""},
		"Nothing":       {"", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := diagnose.Diagnose(diagnose.Scene{Pods: []*corev1.Pod{pod(func(p *corev1.Pod) {
				p.Spec.Containers[0].Command = []string{"serve"}
				p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Message: c.words}}
			})}})
			if c.says == "" {
				if got.Reason != "" {
					t.Errorf("the diagnosis is %+v, want none", got)
				}
				return
			}
			if got.Reason != diagnose.ArgumentRefused || !strings.Contains(got.Message, c.says) || !strings.HasSuffix(got.Message, "; correct spec.engine.server.args or spec.engine.extraArgs") {
				t.Errorf("the diagnosis is %+v, want it to say %q", got, c.says)
			}
		})
	}
}

// The messages are those of kubelets. What differs with each eviction is left out.
func TestEvictions(t *testing.T) {
	cases := map[string]struct{ message, says string }{
		"NodeDisk": {
			"The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9216Mi. Container engine was using 20Gi, request is 0, has larger consumption of ephemeral-storage. ",
			"The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi; free the disk of the node, or request ephemeral-storage in spec.rootResources",
		},
		"Pressure": {"The node had condition: [DiskPressure]. ", "The node had condition: [DiskPressure]; free the disk of the node"},
		"Limit":    {"Container engine exceeded its local ephemeral storage limit \"1Gi\". ", "; raise the limit of ephemeral-storage in spec.rootResources"},
		"Volume":   {"Usage of EmptyDir volume \"cache\" exceeds the limit \"1Gi\". ", "; raise the limit of ephemeral-storage in spec.rootResources, or the size of the volume"},
		"Memory":   {"The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. Container engine was using 7Gi, request is 1Gi, has larger consumption of memory. ", "; request as much memory as the pod uses in spec.rootResources"},
		"Taint":    {"Pod was terminated in response to imminent node shutdown.", "; free its disk or memory, or run the pod on another node"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := diagnose.Diagnose(diagnose.Scene{Pods: []*corev1.Pod{pod(func(p *corev1.Pod) {
				p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Evicted", c.message
			})}})
			if got.Reason != diagnose.PodEvicted || !strings.Contains(got.Message, c.says) || strings.Contains(got.Message, "was using") || strings.Contains(got.Message, "available") {
				t.Errorf("the diagnosis is %+v, want it to say %q", got, c.says)
			}
		})
	}
}
