package pod

import (
	"errors"
	"fmt"
	"testing"
)

func TestResolveAddresses(t *testing.T) {
	p := &Plan{Place: Place{Address: func(namespace, pod string, port int) (string, error) {
		if pod == "gone-0" {
			return "", errors.New("no ports are left")
		}
		return fmt.Sprintf("[%s/%s:%d]", namespace, pod, port), nil
	}}}
	for arg, want := range map[string]string{
		"w-0.w.ns.svc:9990":                        "[ns/w-0:9990]",
		"--wait-for=w-1.w.ns.svc:9991":             "--wait-for=[ns/w-1:9991]",
		"a-0.a.n.svc:1,b-0.b.n.svc:2":              "[n/a-0:1],[n/b-0:2]",
		"http://api.ns.svc.cluster.local:8082/v1":  "http://api.ns.svc.cluster.local:8082/v1",
		"w-0.w.ns.svc":                             "w-0.w.ns.svc",
		"10.0.0.1:9990":                            "10.0.0.1:9990",
		"--text=see w-0.w.ns.svc:99 and elsewhere": "--text=see [ns/w-0:99] and elsewhere",
	} {
		if got, err := p.resolveAddresses(arg); got != want || err != nil {
			t.Errorf("%q becomes %q, %v, want %q", arg, got, err, want)
		}
	}
	for _, arg := range []string{"gone-0.w.ns.svc:1", "w-0.w.ns.svc:65536"} {
		if got, err := p.resolveAddresses(arg); err == nil {
			t.Errorf("%q becomes %q", arg, got)
		}
	}
	if got, err := (&Plan{}).resolveAddresses("w-0.w.ns.svc:9990"); got != "w-0.w.ns.svc:9990" || err != nil {
		t.Errorf("without addresses the name becomes %q, %v", got, err)
	}
}
