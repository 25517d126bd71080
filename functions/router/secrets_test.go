package router_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/router"
)

// loot are Secrets that Koldun writes for its own pods.
func loot() []string {
	return []string{"thief-ingress-nats", "thief-session-nats", "x-dllama-nats-users", "x-model-s3", "x-model-hub-0123abcd", "x-hub-0123abcd-0123abcd", "x-dllama-token-0123abcd", "x-root-nats-credentials"}
}

// open has all rules, as a cluster of a single team.
const open = "{claims: [{everything: true}]}"

// TestNoClaimReadsOwnSecrets walks all fields of all kinds that name a Secret, by the field's
// name or by what its description says, and names Secrets there that Koldun writes for its
// pods. Each is refused with the field, and nothing is composed.
func TestNoClaimReadsOwnSecrets(t *testing.T) {
	walked := 0
	for _, kind := range router.Kinds() {
		spec := definition(t, kind).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		for _, path := range secretFields(nil, spec, false) {
			walked++
			for _, secret := range loot() {
				refuses(t, kind, path, secret)
			}
		}
	}
	if walked < 40 {
		t.Errorf("only %d fields name Secrets", walked)
	}
}

// TestNoTemplateReadsOwnSecrets does the same in the template of a pod, which has no schema.
func TestNoTemplateReadsOwnSecrets(t *testing.T) {
	for _, field := range []string{
		"containers.[].envFrom.[].secretRef.name", "initContainers.[].env.[].valueFrom.secretKeyRef.name", "imagePullSecrets.[].name",
		"volumes.[].secret.secretName", "volumes.[].projected.sources.[].secret.name", "volumes.[].csi.nodePublishSecretRef.name", "volumes.[].azureFile.secretName",
	} {
		refuses(t, v1.KindAIDeployment, append(strings.Split("deployment.template.spec", "."), strings.Split(field, ".")...), "thief-ingress-nats")
	}
}

// TestClaimsReadTheirOwnSecrets holds that others are not refused, and neither is the key of an
// HMAC that looks like a name.
func TestClaimsReadTheirOwnSecrets(t *testing.T) {
	for _, spec := range []string{
		"{backend: {hashSecret: a-ingress-nats}}", "{backend: {nats: {url: 'nats://a', credentialsSecret: {name: nats-login}}}}",
		"{backend: {envFrom: [{configMapRef: {name: a-ingress-nats}}], hashSecretRef: {name: i-hash-secret, key: nats-model-s3}}}",
	} {
		if refused := notAllowedFor(closed(t, ingress0+"spec: "+spec+"\n", "", nil)); refused != "" {
			t.Errorf("%s: %s", spec, refused)
		}
	}
}

// refuses names a Secret in a field of a kind.
func refuses(t *testing.T, kind string, path []string, secret string) {
	t.Helper()
	raw, err := yaml.Marshal(map[string]any{
		"apiVersion": v1.APIVersion, "kind": kind, "metadata": map[string]any{"name": "thief", "namespace": "ns"}, "spec": built(path, secret),
	})
	if err != nil {
		t.Fatal(err)
	}
	rsp := closed(t, string(raw), open, nil)
	field := "spec" + leaf{path: path}.text()
	if refused := notAllowedFor(rsp); !strings.HasPrefix(refused, field+": Secret \""+secret+`"`) || len(rsp.GetDesired().GetResources()) > 0 {
		t.Errorf("%s with %s in %s says %q, and composes %d objects: %v", kind, secret, field, refused, len(rsp.GetDesired().GetResources()), rsp.GetResults())
	}
}

// built is a value with nothing but one field.
func built(path []string, value string) any {
	if len(path) == 0 {
		return value
	}
	below := built(path[1:], value)
	switch path[0] {
	case "[]":
		return []any{below}
	case "{}":
		return map[string]any{"a": below}
	}
	return map[string]any{path[0]: below}
}

// secretFields returns the paths of all fields at or below one that name a Secret. named says
// that the field which holds it is about a Secret.
func secretFields(path []string, s extv1.JSONSchemaProps, named bool) (out [][]string) {
	extend := func(part string) []string { return append(slices.Clone(path), part) }
	if len(path) > 0 && s.Type == "string" {
		switch last := path[len(path)-1]; {
		case last == "hashSecret" || last == "key" || last == "namespace" || last == "prefix" || len(s.Enum) > 0:
		case last == "name" && named, strings.Contains(strings.ToLower(last), "secret"), strings.HasPrefix(s.Description, "Name of the Secret"), strings.HasPrefix(s.Description, "Secret "):
			return [][]string{path}
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		about := strings.Contains(strings.ToLower(name), "secret") || strings.HasPrefix(p.Description, "Secret ") || strings.HasPrefix(p.Description, "Key of a Secret")
		out = append(out, secretFields(extend(name), p, about || named && name == "name")...)
	}
	if s.Type == "array" {
		out = append(out, secretFields(extend("[]"), *s.Items.Schema, named)...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		out = append(out, secretFields(extend("{}"), *s.AdditionalProperties.Schema, named)...)
	}
	return out
}
