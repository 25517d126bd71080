package bus_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

// TestNoServerIsMetadata gives a claim's address of the credentials of a machine as that of NATS.
func TestNoServerIsMetadata(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"nats://169.254.169.254:80", "nats://[fe80::1]:4222"} {
		b, err := bus.Connect(waittest.Context(t), bus.Config{URL: url})
		if err == nil {
			b.Close()
		}
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "which no server may have") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
