package local

import (
	"slices"

	"github.com/gorizond/koldun/internal/local/pod"
	"github.com/gorizond/koldun/internal/local/process"
)

// pods gives pods what they need of this machine. The goroutine of Run calls it.
type pods struct {
	cfg     Config
	machine *pod.Machine // set by Run
	ports   *pod.Ports
	hosts   *hosts
	secrets *secrets
}

func newPods(cfg Config, secrets *secrets) *pods {
	ports := pod.NewPorts()
	return &pods{cfg: cfg, ports: ports, hosts: newHosts(ports), secrets: secrets}
}

// plan resolves the Secrets and ConfigMaps of a pod and takes ports for it. A
// NotFound error names what does not exist yet.
func (p *pods) plan(owner Key, name string, spec pod.Spec) (*pod.Plan, error) {
	ports, err := p.take(owner, name, slices.Concat(spec.InitContainers, spec.Containers))
	if err != nil {
		return nil, err
	}
	plan, err := pod.Resolve(spec, pod.Place{
		Namespace: owner.Namespace,
		Name:      name,
		Dir:       p.cfg.Data.Path("run", owner.Namespace, owner.Kind, name),
		ClaimsDir: p.cfg.Data.Path("volumes", owner.Namespace),
		Env:       slices.Concat(process.Kept(), p.cfg.Env),
		Lookup: func(kind, name string) (map[string][]byte, bool) {
			return p.secrets.get(kind, owner.Namespace, name)
		},
		Address: p.hosts.address,
		Login:   p.cfg.Login,
	}, ports)
	if err != nil {
		p.give(owner, &pod.Plan{Ports: ports})
		return nil, err
	}
	return plan, nil
}

// take takes ports for a pod. Those of a StatefulSet's pod stay its own.
func (p *pods) take(owner Key, name string, containers []pod.Container) (map[string]int, error) {
	if owner.Kind == kindStatefulSet {
		return p.hosts.take(owner.Namespace, name, containers)
	}
	return p.ports.For(containers)
}

// give gives the ports of an ended pod back.
func (p *pods) give(owner Key, plan *pod.Plan) {
	if owner.Kind != kindStatefulSet {
		p.ports.Give(plan.Ports)
	}
}

// host says which containers run here.
func (p *pods) host() pod.Host {
	return pod.Host{Image: p.cfg.OwnImage, Program: p.cfg.Program, Servers: p.cfg.Servers}
}
