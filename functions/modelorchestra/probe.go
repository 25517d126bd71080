package modelorchestra

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	portInference    = 3000 // of Takeoff, whatever the list of ports says
	variableHeadless = "TAKEOFF_HEADLESS"
)

// probe is the user's, or by default GET /healthz. What the user gives without a handler
// changes the default.
func (w part) probe(given *corev1.Probe, failures int32) *corev1.Probe {
	if given != nil && given.ProbeHandler != (corev1.ProbeHandler{}) {
		return given
	}
	if w.headless() {
		return nil
	}
	out := &corev1.Probe{}
	if given != nil {
		out = given.DeepCopy()
	}
	out.HTTPGet = &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(cmp.Or(w.port("inference"), portInference)), Scheme: corev1.URISchemeHTTP}
	out.PeriodSeconds = cmp.Or(out.PeriodSeconds, 10)
	out.TimeoutSeconds = cmp.Or(out.TimeoutSeconds, 5)
	out.SuccessThreshold = cmp.Or(out.SuccessThreshold, 1)
	out.FailureThreshold = cmp.Or(out.FailureThreshold, failures)
	return out
}

// headless readers take requests from the gateway only, and answer none over HTTP: no
// default probe could reach them.
func (w part) headless() bool {
	return slices.ContainsFunc(w.variables(), func(v corev1.EnvVar) bool { return v.Name == variableHeadless && v.Value == "true" })
}

// checkProbes refuses settings of a probe that does not exist.
func (w part) checkProbes() error {
	for _, p := range []struct {
		field string
		probe *corev1.Probe
	}{{"startupProbe", w.StartupProbe}, {"readinessProbe", w.ReadinessProbe}, {"livenessProbe", w.LivenessProbe}} {
		if p.probe != nil && *p.probe != (corev1.Probe{}) && w.probe(p.probe, 1) == nil {
			return fmt.Errorf("%s: headless readers have no default probe that it could change: add a handler, or set %s to false in env", p.field, variableHeadless)
		}
	}
	return nil
}
