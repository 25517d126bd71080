package diagnose_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
)

// Texts of two retries of the same say the same; other texts do not.
func TestSame(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"ContainerID":  {`failed to start container "4f5c1c0ab2d94f5c1c0ab2d9": no`, `failed to start container "9e1d0c0ab2d94f5c1c0ab2d9": no`, true},
		"Attempt":      {`name "engine_x_1b4e28ba-2fa1-11d2-883f-0016d3cca427_3" is reserved`, `name "engine_x_1b4e28ba-2fa1-11d2-883f-0016d3cca427_4" is reserved`, true},
		"RequestID":    {"AccessDenied (request id: A1)", "AccessDenied (request id: B2)", true},
		"Scope":        {"unit: run-r1a2b.scope", "unit: run-r3c4d.scope", true},
		"Port":         {"read tcp 10.0.0.1:4000->10.0.0.2:443: reset", "read tcp 10.0.0.1:4001->10.0.0.2:443: reset", true},
		"Time":         {"2026-01-02T03:04:05.6Z no", "2026-01-02T03:05:05.7Z no", true},
		"Duration":     {"failed after 1.002s", "failed after 1.013s", true},
		"BackOff":      {"back-off 20s restarting", "back-off 1m20s restarting", true},
		"Process":      {"open /proc/123/ns", "open /proc/124/ns", true},
		"Pod":          {`pods "gw-7c9f5-x2k4p" is forbidden`, `pods "gw-7c9f5-bbbbb" is forbidden`, true},
		"Similar":      {"(combined from similar events): no", "no", true},
		"OtherPod":     {`pods "root-0" is forbidden`, `pods "root-1" is forbidden`, false},
		"OtherNumber":  {"has 137438953472 bytes", "has 137438953473 bytes", false},
		"OtherServer":  {"dial tcp 10.0.0.2:443: refused", "dial tcp 10.0.0.2:444: refused", false},
		"OtherTimeout": {"timeout of 30s", "timeout of 60s", false},
	} {
		if got := diagnose.Same(c.a, c.b); got != c.same {
			t.Errorf("%s: %q and %q are the same: %t", name, c.a, c.b, got)
		}
	}
}
