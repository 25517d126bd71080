package s3

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// TestServeRefuses has configurations that no server can have. package/s3 tests a server.
func TestServeRefuses(t *testing.T) {
	missing := TLS{CertFile: filepath.Join(t.TempDir(), "tls.crt"), Reread: time.Minute}
	for name, c := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"NoKeys":        {func(c *Config) { c.SecretKey = "" }, "access key and secret key"},
		"NoFolder":      {func(c *Config) { c.Dir = "" }, "no data folder"},
		"NoCertificate": {func(*Config) {}, "cannot read the certificate"},
		"NoPause":       {func(c *Config) { c.TLS.Reread = 0 }, "cannot look every 0s"},
	} {
		cfg := testConfig(t.TempDir())
		cfg.TLS = missing
		c.change(&cfg)
		if err := Serve(t.Context(), cfg); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want an error of kind Invalid with %q", name, err, c.says)
		}
	}
}
