package platform_test

import (
	"strings"
	"testing"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/platform"
)

// none are no images of Koldun.
var none platform.Own

// TestImages attacks lists of images with names that look like those of others.
func TestImages(t *testing.T) {
	for entry, images := range map[string]map[string]bool{
		"ghcr.io/acme": {
			"ghcr.io/acme/engine": true, "ghcr.io/acme/engine:1": true, "ghcr.io/acme/a/b@sha256:00": true, "ghcr.io/acme": true, "ghcr.io/acme:1": true,
			"ghcr.io/acme-evil/engine": false, "ghcr.io/acmeevil": false, "ghcr.io/other": false, "evil/ghcr.io/acme/engine": false, "": true,
		},
		"ghcr.io/acme/":         {"ghcr.io/acme/engine:1": true, "ghcr.io/acme-evil/engine": false},
		"registry.acme":         {"registry.acme/engine": true, "registry.acme:5000/engine": false, "registry.acme.evil/engine": false},
		"registry.acme:5000":    {"registry.acme:5000/engine:1": true, "registry.acme:50001/engine": false},
		"ghcr.io/acme/engine:1": {"ghcr.io/acme/engine:1": true, "ghcr.io/acme/engine:10": false, "ghcr.io/acme/engine:1@sha256:00": false, "ghcr.io/acme/engine": false},
		"ghcr.io/acme/engine":   {"ghcr.io/acme/engine:1@sha256:00": true, "ghcr.io/acme/engine2": false},
		"":                      {"ghcr.io/acme/engine": false},
	} {
		rules := platform.Rules{Claims: []platform.Rule{{Images: []string{entry}}}}
		for image, want := range images {
			if refused := rules.Refused("team", none, platform.Image("spec.image", image)); (refused == "") != want {
				t.Errorf("%q for %q: %q", image, entry, refused)
			}
		}
	}
}

// TestRules holds that each grant allows its own use in its own namespaces only.
func TestRules(t *testing.T) {
	uses := map[string]platform.Use{
		"images: [a/b]":          platform.Image("spec.image", "a/b:1"),
		"gatewayImages: [a/b]":   platform.GatewayImage("spec.image", "a/b:1"),
		"serverCommands: true":   platform.ServerCommand("spec.engine.server.command", []string{"sh"}),
		"serverSecrets: [a]":     platform.ServerSecret("spec.envFrom", "a"),
		"extraArgs: true":        platform.Args("spec.extraArgs", []string{"--x"}),
		"tokensMayExceed: true":  platform.Gateway("spec", v1.GatewaySettings{Limits: &v1.Limits{TokensMayExceed: true}})[0],
		"podTemplates: true":     {Field: "spec.template", What: "template", Value: "x", Grant: "podTemplates"},
		"csiDrivers: [d]":        {Field: "spec.pv.csiDriver", What: "driver", Value: "d", Grant: "csiDrivers"},
		"csiSecrets: [a/b]":      {Field: "spec.pv.csiSecretName", What: "Secret", Value: "a/b", Grant: "csiSecrets"},
		"csiAttributes: [mount]": {Field: "spec.pv.volumeAttributes", What: "attribute", Value: "mount", Grant: "csiAttributes"},
	}
	for _, list := range []string{
		"annotations", "hosts", "serviceTypes", "serviceAccounts", "priorityClasses", "runtimeClasses", "tolerations", "nodeLabels", "affinityNamespaces", "privileges",
	} {
		uses[list+": [d]"] = platform.Use{Field: "spec." + list, What: list, Value: "d", Grant: list}
	}
	for grant := range uses {
		name, value, _ := strings.Cut(grant, ": ")
		if value != "true" {
			value = `["` + strings.Trim(value, "[]") + `"]`
		}
		rules, err := platform.Read([]byte(`{"claims": [{"namespaces": ["team", "other"], "` + name + `": ` + value + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		for other, use := range uses {
			refused := rules.Refused("team", none, use)
			if (refused == "") != (other == grant) {
				t.Errorf("%s allows %s: %q", grant, other, refused)
			}
			if foreign := rules.Refused("hostile", none, use); foreign == "" {
				t.Errorf("%s allows another namespace %s", grant, other)
			}
		}
	}
	for _, use := range uses {
		if refused := (platform.Rules{}).Refused("team", none, use); !strings.HasPrefix(refused, use.Field+": ") || !strings.Contains(refused, "{namespaces: [team], "+use.Grant+": ") || !strings.Contains(refused, `EnvironmentConfig "koldun-platform"`) {
			t.Errorf("without rules it says %q", refused)
		}
		if refused := (platform.Rules{Claims: []platform.Rule{{Everything: true}}}).Refused("team", none, use); refused != "" {
			t.Error(refused)
		}
	}
}

// TestPatterns attacks lists with values that look like those of others.
func TestPatterns(t *testing.T) {
	for entry, values := range map[string]map[string]bool{
		"*.team.example": {"a.team.example": true, "a.b.team.example": true, "*.team.example": true, "team.example": false, "evil-team.example": false, "*.example": false, "a.team.example.evil": false},
		"a.example":      {"a.example": true, "aa.example": false, "*.example": false},
		"*":              {"a.example": true, "*": true, "a/b": true},
		"cert.io/*":      {"cert.io/issuer": true, "cert.io.evil/issuer": false, "x.cert.io/issuer": false, "cert.io/": true},
		"gpu":            {"gpu": true, "*": false},
		"[":              {"[": false, "a": false},
		"":               {"a": false},
	} {
		rules := platform.Rules{Claims: []platform.Rule{{Grants: platform.Grants{Hosts: []string{entry}}}}}
		for value, want := range values {
			if refused := rules.Refused("team", none, platform.Use{Field: "f", Value: value, Grant: "hosts"}); (refused == "") != want {
				t.Errorf("%q for %q: %q", value, entry, refused)
			}
		}
	}
}

// TestReadsStrictly holds that a misspelt field allows nothing silently.
func TestReadsStrictly(t *testing.T) {
	for _, data := range []string{`{"claim": []}`, `{"claims": [{"namespace": ["a"]}]}`, `{"claims": {}}`, `[]`, ``} {
		if rules, err := platform.Read([]byte(data)); err == nil || len(rules.Claims) > 0 || !strings.Contains(err.Error(), "koldun-platform") {
			t.Errorf("%q: %+v, %v", data, rules, err)
		}
	}
}
