package connection

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/network/egress"
)

// Ports returns the ports that clients of a system connect to, as the composed managed
// resource of a name reports them. They are nil until it does.
func Ports(c *compose.Call, res string) []int32 {
	var seen struct {
		Status struct {
			AtProvider struct {
				Ports []int32 `json:"ports"`
			} `json:"atProvider"`
		} `json:"status"`
	}
	c.Observed(res, &seen)
	return seen.Status.AtProvider.Ports
}

// An Egress says what pods connect to beside name servers.
type Egress struct {
	// Policy is the name of their composed NetworkPolicy.
	Policy     string
	Scheduling *v1.Scheduling
	// Systems are the ports of each system; nil are not known yet.
	Systems [][]int32
	// Ports are those of other servers.
	Ports []int32
	// Peers are further ways.
	Peers []workload.Way
}

// Known reports whether the ports of all systems are.
func (e Egress) Known() bool {
	return !slices.ContainsFunc(e.Systems, func(ports []int32) bool { return len(ports) == 0 })
}

// Ways returns the ways out of the pods. While the ports of a system are not known, those of
// the existing policy stay. Without one, pods that start nevertheless may use all ports, as
// with a provider of a version that reports none.
func (e Egress) Ways(c *compose.Call) []workload.Way {
	if e.Known() {
		return append(workload.Outside(e.Scheduling, egress.Union(e.Ports, slices.Concat(e.Systems...))), e.Peers...)
	}
	var seen networkingv1.NetworkPolicy
	if c.Observed(e.Policy, &seen) {
		return seen.Spec.Egress
	}
	return append(workload.AnyPort(e.Scheduling), e.Peers...)
}
