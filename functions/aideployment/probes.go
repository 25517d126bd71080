package aideployment

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/fault"
)

// startupSeconds is how long a server may take to download and load its models. A
// smaller number restarts the download again and again.
const (
	startupSeconds = 7200
	startupPeriod  = 10
)

// probes sets the probes of a server that Koldun knows. A server that is busy answers
// late, so liveness is patient.
func (a *alone) probes(c *corev1.Container) {
	known := a.engine.profile.Alone
	if known.Ready == "" {
		return
	}
	get := func(path string) corev1.ProbeHandler {
		return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(a.port), Scheme: corev1.URISchemeHTTP}}
	}
	c.StartupProbe = &corev1.Probe{
		ProbeHandler: get(known.Ready), PeriodSeconds: startupPeriod, TimeoutSeconds: 10, SuccessThreshold: 1, FailureThreshold: startupSeconds / startupPeriod,
	}
	c.ReadinessProbe = &corev1.Probe{ProbeHandler: get(known.Ready), PeriodSeconds: 5, TimeoutSeconds: 5, SuccessThreshold: 1, FailureThreshold: 3}
	c.LivenessProbe = &corev1.Probe{ProbeHandler: get(known.Live), PeriodSeconds: 30, TimeoutSeconds: 15, SuccessThreshold: 1, FailureThreshold: 10}
}

// probe overrides the numbers of the probes. One that the container lacks connects
// to the port. The error is Invalid.
func (a *alone) probe(c *corev1.Container) error {
	d := a.d.Spec.Deployment
	for _, one := range []struct {
		field string
		from  *v1.AIProbe
		into  **corev1.Probe
	}{
		{"startupProbe", d.StartupProbe, &c.StartupProbe},
		{"readinessProbe", d.ReadinessProbe, &c.ReadinessProbe},
		{"livenessProbe", d.LivenessProbe, &c.LivenessProbe},
	} {
		if one.from == nil {
			continue
		}
		readiness := one.field == "readinessProbe"
		switch n := one.from.SuccessThreshold; {
		case n != nil && *n > 1 && !readiness:
			return fault.Errorf(fault.Invalid, "spec.deployment.%s.successThreshold: only a readiness probe may have more than 1", one.field)
		case one.from.TerminationGracePeriodSeconds != nil && readiness:
			return fault.Errorf(fault.Invalid, "spec.deployment.readinessProbe.terminationGracePeriodSeconds: a readiness probe ends no container")
		}
		if *one.into == nil {
			*one.into = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(a.port)}}}
		}
		override(*one.into, *one.from)
	}
	return nil
}

func override(probe *corev1.Probe, from v1.AIProbe) {
	for _, n := range []struct {
		from *int32
		into *int32
	}{
		{from.InitialDelaySeconds, &probe.InitialDelaySeconds}, {from.TimeoutSeconds, &probe.TimeoutSeconds}, {from.PeriodSeconds, &probe.PeriodSeconds},
		{from.SuccessThreshold, &probe.SuccessThreshold}, {from.FailureThreshold, &probe.FailureThreshold},
	} {
		if n.from != nil {
			*n.into = *n.from
		}
	}
	if from.TerminationGracePeriodSeconds != nil {
		probe.TerminationGracePeriodSeconds = from.TerminationGracePeriodSeconds
	}
}
