package names_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/names"
)

var label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

func TestJoin(t *testing.T) {
	long := strings.Repeat("a", 60)
	cases := map[string]struct {
		limit int
		parts []string
		want  string // empty: any label within the limit that ends in a hash
	}{
		"Plain":   {63, []string{"a", "root"}, "a-root"},
		"Fits":    {60, []string{long}, long},
		"TooLong": {52, []string{long, "root"}, ""},
		"Dots":    {63, []string{"a.b"}, ""},
		"Upper":   {63, []string{"A"}, ""},
		"Nothing": {63, []string{"..."}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := names.Join(c.limit, c.parts...)
			if c.want != "" && got != c.want {
				t.Errorf("Join(%d, %q) = %q, want %q", c.limit, c.parts, got, c.want)
			}
			if len(got) > c.limit || !label.MatchString(got) {
				t.Errorf("Join(%d, %q) = %q, which is no label of at most %d bytes", c.limit, c.parts, got, c.limit)
			}
		})
	}
}

func TestJoinNeverCollides(t *testing.T) {
	long := strings.Repeat("x", 70)
	seen := map[string][]string{}
	for _, parts := range [][]string{{long + "1"}, {long + "2"}, {"a.b"}, {"a_b"}, {"A-b"}, {long, "1"}, {long + "-1", ""}} {
		got := names.Join(52, parts...)
		if other, ok := seen[got]; ok {
			t.Errorf("Join gives %q for %q and for %q", got, parts, other)
		}
		seen[got] = parts
	}
}

func FuzzJoin(f *testing.F) {
	f.Add("name", "suffix")
	f.Fuzz(func(t *testing.T, a, b string) {
		if got := names.Object(a, b); len(got) > 52 || !label.MatchString(got) {
			t.Errorf("Object(%q, %q) = %q, which is no label", a, b, got)
		}
	})
}

func TestSession(t *testing.T) {
	if got, want := names.Session("default", "tiny", ""), "default_tiny"; got != want {
		t.Errorf("Session = %q, want %q", got, want)
	}
	token := regexp.MustCompile(`^[a-z0-9_-]+$`)
	for _, s := range []string{names.Session("a.b", "c d", "x*y>"), names.Session("", "", "")} {
		if !token.MatchString(s) {
			t.Errorf("Session gives %q, which is no subject token", s)
		}
	}
	if names.Session("a", "b", "x") == names.Session("a", "b", "y") {
		t.Error("two isolations share a session")
	}
}

func TestEnv(t *testing.T) {
	if got, want := names.PortEnv("engine-health"), "KOLDUN_PORT_ENGINE_HEALTH"; got != want {
		t.Errorf("PortEnv = %q, want %q", got, want)
	}
	if got, want := names.DirEnv("model"), "KOLDUN_DIR_MODEL"; got != want {
		t.Errorf("DirEnv = %q, want %q", got, want)
	}
}

// TestVariablesOfClaims checks which variables a claim may set where Koldun has connections.
func TestVariablesOfClaims(t *testing.T) {
	for variable, want := range map[string]struct{ connects, own bool }{
		names.EnvNATSURL: {true, false}, names.EnvNATSCreds: {true, false}, names.EnvS3Endpoint: {true, false}, "AWS_ENDPOINT_URL": {true, false},
		"AWS_CONFIG_FILE": {true, false}, names.EnvHFEndpoint: {true, false}, "SSL_CERT_FILE": {true, false}, "SSL_CERT_DIR": {true, false},
		"AWS_MAX_ATTEMPTS": {}, "AWS_RETRY_MODE": {}, "AWS_REQUEST_CHECKSUM_CALCULATION": {}, "AWS_RESPONSE_CHECKSUM_VALIDATION": {},
		names.EnvHFToken: {}, "HTTPS_PROXY": {}, "NO_PROXY": {}, "OTEL_EXPORTER_OTLP_ENDPOINT": {}, "GOMEMLIMIT": {}, "NATS": {}, "XAWS_REGION": {},
		names.EnvHubReach: {false, true}, "POD_NAMESPACE": {false, true}, names.EnvClaim + "X": {false, true}, "KOLDUN_LOG_LEVEL": {}, "KOLDUN_LOG_FORMAT": {},
	} {
		if got := names.Connects(variable); got != want.connects {
			t.Errorf("Connects(%s) = %v", variable, got)
		}
		if got := names.Own(variable); got != want.own {
			t.Errorf("Own(%s) = %v", variable, got)
		}
		if got := names.Claimable(variable); got == (want.connects || want.own) {
			t.Errorf("Claimable(%s) = %v", variable, got)
		}
	}
	if names.Claimable("") {
		t.Error("a variable without a name may be set")
	}
}
