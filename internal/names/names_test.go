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

// TestVariablesOfClaims checks which variables a claim may set, and refer to, where Koldun has
// connections: among others none by which a shell, an interpreter or a library takes commands.
func TestVariablesOfClaims(t *testing.T) {
	type want struct{ own, claimable, referable bool }
	free, none := want{claimable: true, referable: true}, want{}
	for variable, want := range map[string]want{
		names.EnvNATSURL: none, names.EnvNATSCreds: none, names.EnvS3Endpoint: none, "AWS_ENDPOINT_URL": none, "AWS_CONFIG_FILE": none,
		names.EnvHFEndpoint: none, "SSL_CERT_FILE": none, "SSL_CERT_DIR": none, "NATS": none, "XAWS_REGION": none, "": none,
		"BASH_ENV": none, "ENV": none, "PYTHONWARNINGS": none, "PYTHONPATH": none, "BROWSER": none, "LD_PRELOAD": none, "NODE_OPTIONS": none, "PERL5OPT": none,
		"GODEBUG": none, "PATH": none, "HOME": none, "OPENAI_API_KEY": none,
		"AWS_MAX_ATTEMPTS": free, "AWS_RETRY_MODE": free, "AWS_REQUEST_CHECKSUM_CALCULATION": free, "AWS_RESPONSE_CHECKSUM_VALIDATION": free,
		"HTTPS_PROXY": free, "no_proxy": free, "OTEL_EXPORTER_OTLP_ENDPOINT": free, "GOMEMLIMIT": free, "KOLDUN_LOG_LEVEL": free, "KOLDUN_LOG_FORMAT": free,
		names.EnvHFToken: {claimable: true}, names.EnvHubReach: {own: true}, names.EnvClaim + "X": {own: true}, "KOLDUN_HASH_SECRET": {own: true},
		"POD_NAMESPACE": {own: true, referable: true}, names.PortEnv("api"): {own: true, referable: true}, names.DirEnv("model"): {own: true, referable: true},
	} {
		if got := names.Own(variable); got != want.own {
			t.Errorf("Own(%s) = %v", variable, got)
		}
		if got := names.Claimable(variable); got != want.claimable {
			t.Errorf("Claimable(%s) = %v", variable, got)
		}
		if got := names.Referable(variable); got != want.referable {
			t.Errorf("Referable(%s) = %v", variable, got)
		}
	}
}
