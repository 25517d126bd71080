package dllama

import (
	"strings"

	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/ingress"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/network/egress"
)

// hubPort is that of the hubs and registries from which servers download models.
const hubPort = 443

// egress says what the root connects to, beside its workers: NATS, which is the first of
// the systems, the object store of its files, and what the claim names.
func (p *dllamaPlan) egress() connection.Egress {
	out := connection.Egress{
		Policy: resRootGuard, Scheduling: p.Spec.Scheduling,
		Systems: [][]int32{p.natsPorts()}, Ports: workload.EnvOf(p.Spec.Env, p.Spec.EnvFrom).Ports(),
	}
	if p.delivery == deliveryFetch {
		out.Systems = append(out.Systems, p.storePorts())
	}
	if p.asks() { // the port of the pods: the Service may have another one
		out.Ports = append(out.Ports, ingress.PortNumber)
	}
	s := p.Spec.Engine.Server
	if s == nil {
		return out
	}
	out.Ports = egress.Union(out.Ports, workload.EnvOf(s.Env, nil).Ports(), egress.Mentioned(strings.Join(s.Command, " "), strings.Join(s.Args, " ")))
	switch {
	case p.engine.API != nil && p.engine.API.URL != "":
		out.Ports = append(out.Ports, egress.Mentioned(p.engine.API.URL)...)
	case p.engine.Reads == engine.FilesNone:
		out.Ports = append(out.Ports, hubPort)
	}
	return out
}

// storePorts returns those of the object store, which the Dllama's own Bucket reports or
// that of its Model.
func (p *dllamaPlan) storePorts() []int32 {
	if p.ownStore() {
		return connection.Ports(p.Call, resBucket)
	}
	return p.artifact.Ports
}
