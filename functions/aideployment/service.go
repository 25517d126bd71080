package aideployment

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// A backend is the Service that the domains lead to.
type backend struct {
	name string
	port int32
}

// gatewayPort is the port of the Service in front of a gateway.
const gatewayPort = 8082

// gateway is the backend of an engine behind the queue.
func gateway(d *v1.AIDeployment) backend {
	return backend{names.Object(name(d), "gateway"), gatewayPort}
}

// service composes the Service in front of the pods.
func (a *alone) service() error {
	s := a.d.Spec.Service
	if s == nil {
		s = &v1.AIDeploymentService{}
	}
	out := workload.Service(a.d.Namespace, name(a.d), corev1.ServiceType(cmp.Or(s.Type, "ClusterIP")), selector(a.d), map[string]int32{portHTTP: a.port})
	out.Spec.Ports[0].TargetPort = intstr.FromInt32(a.port) // a template may name the port otherwise
	out.Labels, out.Annotations = with(s.Labels, labels(a.d)), annotations(a.d, s.Annotations)
	a.serveOn(a.port)
	return a.Desire(resService, out, compose.Ready)
}

// serveOn reports the port of the Service.
func (p *plan) serveOn(port int32) {
	p.status.URL = fmt.Sprintf("http://%s.%s.svc.cluster.local:%d", name(p.d), p.d.Namespace, port)
}
