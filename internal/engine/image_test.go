package engine_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/engine"
)

func TestOwnImage(t *testing.T) {
	const mirror = "registry.example.org:5000/mirror/koldun:v1"
	for name, c := range map[string]struct {
		image, koldun string
		want          bool
	}{
		"Latest":        {"ghcr.io/gorizond/koldun:latest", mirror, true},
		"NoTag":         {"ghcr.io/gorizond/koldun", mirror, true},
		"Digest":        {"ghcr.io/gorizond/koldun@sha256:00", mirror, true},
		"TagAndDigest":  {"ghcr.io/gorizond/koldun:v1@sha256:00", mirror, true},
		"Configured":    {mirror, mirror, true},
		"OtherVersion":  {"registry.example.org:5000/mirror/koldun:v2", mirror, true},
		"OtherRegistry": {"registry.example.org/mirror/koldun:v1", mirror, false},
		"OfSomeoneElse": {"ghcr.io/someone/koldun:latest", mirror, false},
		"LongerName":    {"ghcr.io/gorizond/koldun-provider:latest", mirror, false},
		"Engine":        {"ghcr.io/gorizond/distributed-llama:v1", mirror, false},
		"Empty":         {"", mirror, false},
		"BothEmpty":     {"", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := engine.OwnImage(c.image, c.koldun); got != c.want {
				t.Errorf("OwnImage(%q, %q) = %v", c.image, c.koldun, got)
			}
		})
	}
}

func TestImageFor(t *testing.T) {
	const own = "ghcr.io/gorizond/koldun:v1"
	for name, c := range map[string]struct {
		standard string // of the engine
		named    []string
		want     string
	}{
		"Koldun":          {"", nil, own},
		"OtherKoldun":     {"", []string{"ghcr.io/gorizond/koldun:v2"}, own},
		"Default":         {"e:1", []string{"", ""}, "e:1"},
		"Named":           {"e:1", []string{"mine", "other"}, "mine"},
		"SecondNamed":     {"e:1", []string{"", "mine"}, "mine"},
		"KoldunsIsNone":   {"e:1", []string{"ghcr.io/gorizond/koldun:v2"}, "e:1"},
		"KoldunsAndNamed": {"e:1", []string{own, "mine"}, "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (engine.Engine{Image: c.standard}).ImageFor(own, c.named...); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTrusted(t *testing.T) {
	const own = "ghcr.io/gorizond/koldun"
	for name, c := range map[string]struct {
		image, koldun string
		want          bool
	}{
		"Unpinned":     {own + ":v1", own + ":v2", true},
		"Same":         {own + ":v2@sha256:aa", own + ":v2@sha256:aa", true},
		"SameDigest":   {own + "@sha256:aa", own + ":v2@sha256:aa", true},
		"Tag":          {own + ":v2", own + ":v2@sha256:aa", false},
		"OtherDigest":  {own + ":v2@sha256:bb", own + ":v2@sha256:aa", false},
		"OtherImage":   {"evil/koldun@sha256:aa", own + ":v2@sha256:aa", false},
		"LongerDigest": {own + "@sha256:aa@sha256:bb", own + "@sha256:aa", false},
	} {
		if got := engine.Trusted(c.image, c.koldun); got != c.want {
			t.Errorf("%s: Trusted(%q, %q) = %v", name, c.image, c.koldun, got)
		}
	}
}
