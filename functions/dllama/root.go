package dllama

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// Ports of the root pod. Only the sidecar ever connects to the engine's.
const (
	portEngine       = "engine"
	portEngineHealth = "engine-health"
	portSidecar      = "llm"
)

const volumeModel = "model"

// root composes the root pod: its files are fetched and verified before the
// engine starts, and it is ready when the sidecar got a token out of it.
func (p *plan) root() error {
	name := names.Object(p.d.Name, "root")
	pod := p.rootPod()
	if err := p.Desire(resService, workload.Headless(p.d.Namespace, name, pod.Labels, map[string]int32{portSidecar: pod.Ports[portSidecar]}), compose.Ready); err != nil {
		return err
	}
	var seen appsv1.StatefulSet
	ready := p.Observed(resRoot, &seen) && seen.Status.ReadyReplicas > 0 && seen.Status.ObservedGeneration >= seen.Generation
	if err := p.Desire(resRoot, workload.StatefulSet(p.d.Namespace, name, 1, pod), compose.Readiness(ready)); err != nil {
		return err
	}
	p.status.ReadyRoot = ready
	switch ingress := serving(p.ingress.Status.Conditions); {
	case !ready:
		p.False(v1.ConditionServing, reason.RootStarting, "StatefulSet %q is not ready: the root loads %s", name, p.artifact.ModelFile)
	case p.d.Spec.Expose != nil && ingress.Status != metav1.ConditionTrue:
		p.False(v1.ConditionServing, reason.GatewayStarting, "Ingress %q is not ready: %s: %s", p.d.Name, ingress.Reason, ingress.Message)
	default:
		p.True(v1.ConditionServing, reason.Available, "%s is served on %s", p.status.Model, plural(int(p.status.Nodes), "node"))
	}
	return nil
}

func (p *plan) rootPod() workload.Pod {
	dir := "$(" + names.DirEnv(volumeModel) + ")"
	engine := p.d.Spec.RootImage
	if engine == "" {
		engine = p.Image
	}
	return workload.Pod{
		Labels:      workload.Labels("root", "dllama", p.d.Name),
		Annotations: map[string]string{"koldun.gorizond.io/memory-plan": p.memoryPlan()},
		Ports:       map[string]int32{portEngine: 9990, portEngineHealth: 9991, portSidecar: 8081},
		Volumes:     map[string]string{volumeModel: "/model"},
		Init: []workload.Container{{
			Name:    "fetch",
			Image:   p.Image,
			Args:    []string{"fetch", "--from=" + p.artifact.URL, "--to=" + dir},
			Secrets: []string{p.storeSecret()},
		}},
		Containers: []workload.Container{
			{
				Name:  "engine",
				Image: engine,
				Args: []string{
					"engine", "api",
					"--model=" + dir + "/" + p.artifact.ModelFile,
					"--tokenizer=" + dir + "/" + p.artifact.TokenizerFile,
					"--host=127.0.0.1", "--port=$(" + names.PortEnv(portEngine) + ")",
					"--health-listen=:$(" + names.PortEnv(portEngineHealth) + ")",
					"--buffer-float-type=" + string(p.buffers),
					"--nthreads=" + strconv.Itoa(int(max(p.d.Spec.Engine.Threads, 1))),
					"--max-seq-len=" + strconv.Itoa(int(p.seqLen())),
					"--temperature=0",
				},
			},
			{
				Name:  "llm",
				Image: p.Image,
				Args: []string{
					"llm", "--listen=:$(" + names.PortEnv(portSidecar) + ")",
					"--engine=http://127.0.0.1:$(" + names.PortEnv(portEngine) + ")",
					"--session=" + p.session(), "--runner=$(POD_NAMESPACE)_$(POD_NAME)", "--model=" + p.status.Model,
				},
				Secrets:   []string{p.busSecret()},
				ProbePort: portSidecar,
			},
		},
		GraceSeconds: 120,
	}
}

func (p *plan) memoryPlan() string {
	return "model=" + p.artifact.ModelFile + " nodes=" + strconv.Itoa(int(p.status.Nodes)) + " root=" + strconv.FormatInt(p.status.RootMemoryBytes, 10)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
