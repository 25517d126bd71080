package router_test

import (
	"maps"
	"net/netip"
	"slices"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/router"
)

const guardedMeta = "apiVersion: koldun.gorizond.io/v1\nmetadata: {name: x, namespace: team}\n"

// guardedWorld are the objects that exist besides, by their kind.
func guardedWorld() map[string]string {
	return map[string]string{
		"Model": `{apiVersion: koldun.gorizond.io/v1, kind: Model, metadata: {name: m, namespace: team}, status: {artifact: {url: 's3://b/m', modelFile: m.m, tokenizerFile: t.t, weights: q40, sizeBytes: 1000, ` + llama8B + `},
  conditions: [{type: Serving, status: 'True', reason: Available}]}}`,
		"PersistentVolumeClaim": "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: team, uid: volume-1}}",
	}
}

// reported are the ports that managed resources report, by their kind. Those of NATS
// and the object store are as of ProviderConfigs without egressPorts.
func reported() map[string][]any {
	return map[string][]any{"Queue": {4222}, "KeyValue": {4222}, "Bucket": {9000}, "HubRevision": {443, 8443}}
}

// policies returns the NetworkPolicies that a composite composes, when its managed
// resources are ready.
func policies(t *testing.T, composite string) map[string]networkingv1.NetworkPolicy {
	t.Helper()
	return composed(t, composite, &fnv1.RunFunctionRequest{
		Observed:          &fnv1.State{Resources: map[string]*fnv1.Resource{}},
		RequiredResources: map[string]*fnv1.Resources{},
	}, reported())
}

// composed returns the NetworkPolicies of a composite after some calls, of which the first
// is req. Managed resources report ports.
func composed(t *testing.T, composite string, req *fnv1.RunFunctionRequest, ports map[string][]any) map[string]networkingv1.NetworkPolicy {
	t.Helper()
	req.Observed.Composite = composetest.Object(t, guardedMeta+composite)
	var out map[string]networkingv1.NetworkPolicy
	for range 8 {
		out = map[string]networkingv1.NetworkPolicy{}
		rsp, err := router.New(compose.Config{Image: "koldun", Trusted: true}).RunFunction(t.Context(), req)
		if err != nil || len(rsp.GetResults()) > 0 {
			t.Fatalf("cannot compose %s: %v: %v", composite, err, rsp.GetResults())
		}
		for key, want := range rsp.GetRequirements().GetResources() {
			items := &fnv1.Resources{}
			if manifest, exists := guardedWorld()[want.GetKind()]; exists && key != "namesake" {
				items.Items = append(items.Items, composetest.Object(t, manifest))
			}
			req.RequiredResources[key] = items
		}
		for name, r := range rsp.GetDesired().GetResources() {
			fields := r.GetResource().AsMap()
			if fields["kind"] == "NetworkPolicy" {
				raw, err := yaml.Marshal(fields)
				if err != nil {
					t.Fatal(err)
				}
				var p networkingv1.NetworkPolicy
				if err := yaml.UnmarshalStrict(raw, &p); err != nil {
					t.Fatal(err)
				}
				out[name] = p
			}
			kind, _ := fields["kind"].(string)
			fields["status"] = map[string]any{
				"conditions": []any{map[string]any{"type": "Ready", "status": "True"}, map[string]any{"type": "Synced", "status": "True"}},
				"atProvider": map[string]any{"commit": "0123456789012345678901234567890123456789", "configured": true, "ports": ports[kind]},
			}
			raw, err := yaml.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			req.Observed.Resources[name] = composetest.Object(t, string(raw))
		}
	}
	return out
}

// enters reports whether a stranger, who is neither a peer nor in a named network, reaches a
// port of the pods of a policy.
func enters(p networkingv1.NetworkPolicy, port int32) bool {
	for _, rule := range p.Spec.Ingress {
		if len(rule.From) > 0 {
			continue
		}
		if len(rule.Ports) == 0 {
			return true
		}
		for _, open := range rule.Ports {
			if open.Port.IntVal == port {
				return true
			}
		}
	}
	return false
}

// leaves reports whether the pods of a policy reach a port of an address by a protocol.
func leaves(p networkingv1.NetworkPolicy, address, protocol string, port int32) bool {
	for _, rule := range p.Spec.Egress {
		if opens(rule.Ports, protocol, port) && leadsTo(rule.To, netip.MustParseAddr(address)) {
			return true
		}
	}
	return false
}

func opens(ports []networkingv1.NetworkPolicyPort, protocol string, port int32) bool {
	for _, p := range ports {
		if string(*p.Protocol) == protocol && (p.Port == nil || p.Port.IntVal == port) {
			return true
		}
	}
	return len(ports) == 0
}

func leadsTo(peers []networkingv1.NetworkPolicyPeer, address netip.Addr) bool {
	for _, peer := range peers {
		if peer.IPBlock == nil || !netip.MustParsePrefix(peer.IPBlock.CIDR).Contains(address) {
			continue
		}
		excepted := false
		for _, cidr := range peer.IPBlock.Except {
			excepted = excepted || netip.MustParsePrefix(cidr).Contains(address)
		}
		if !excepted {
			return true
		}
	}
	return len(peers) == 0
}

// TestPoliciesFence attacks the pods of each kind from outside, and what is outside from
// the pods.
func TestPoliciesFence(t *testing.T) {
	const server = "{type: openai, server: {profile: vllm, source: download, model: a/b, env: [{name: HF_ENDPOINT, value: 'http://mirror:8081'}], args: ['--otlp-traces-endpoint=grpc://otel:4317']}}"
	type attack struct {
		composite string
		policy    string
		serves    []int32 // ports that strangers reach
		reaches   []int32 // ports of all servers that the pods reach
	}
	for name, c := range map[string]attack{
		"Gateway":         {"kind: Ingress\nspec: {backend: {sessions: Static}}", "guard", []int32{8082, 8083}, []int32{4222}},
		"GatewayTraces":   {"kind: Ingress\nspec: {backend: {sessions: Static, backendEnv: [{name: OTEL_EXPORTER_OTLP_ENDPOINT, value: 'http://otel:4318'}]}}", "guard", []int32{8082, 8083}, []int32{4222, 4318}},
		"SessionDispatch": {"kind: Session\nspec: {modelRef: {name: m}, nats: {url: 'nats://n:4222'}}", "guard", []int32{8083}, []int32{4222}},
		"Embedded":        {"kind: Dllama\nspec: {modelRef: {name: m}}", "root-guard", []int32{8081, 9991}, []int32{4222, 9000}},
		"RingRoot":        {"kind: Dllama\nspec: {nodes: 2, modelRef: {name: m}}", "root-guard", []int32{8081, 9991}, []int32{4222, 9000}},
		"RingWorkers":     {"kind: Dllama\nspec: {nodes: 2, modelRef: {name: m}}", "worker-guard", []int32{9991}, nil},
		"Server":          {"kind: Dllama\nspec: {engine: " + server + "}", "root-guard", []int32{8081}, []int32{443, 4222, 4317, 8081}},
		"ServerOutside":   {"kind: Dllama\nspec: {engine: {type: openai, server: {url: 'http://h:1234/v1', model: b}}}", "root-guard", []int32{8081}, []int32{1234, 4222}},
		"Root":            {"kind: Root\nspec: {modelRef: c, modelFile: m.m, tokenizerFile: t.t, image: dllama, serves: team/m, workers: ['w:9990', '10.0.0.1:9993']}", "guard", []int32{8081, 9991}, []int32{4222, 9990, 9993}},
		"RootAlone":       {"kind: Root\nspec: {modelRef: c, modelFile: m.m, tokenizerFile: t.t, image: dllama}", "guard", []int32{8081, 9991}, nil},
		"Worker":          {"kind: Worker\nspec: {image: dllama}", "guard", []int32{9991}, []int32{9990}},
		"JobsOfModels":    {"kind: Model\nspec: {sourceUrl: 'hf://a/b'}", "guard", []int32{8084}, []int32{443, 4222, 8443, 9000}},
		"JobsOfVolumes":   {"kind: Model\nspec: {preConverted: true, preConvertedPVCName: c, preConvertedModelPath: m.m, preConvertedTokenizerPath: t.t}", "guard", []int32{8084}, []int32{4222}},
		"JobsOfDownloads": {"kind: ModelDownload\nspec: {storagePVC: c, models: [{name: a/b}]}", "guard", []int32{8084}, []int32{443, 8443}},
	} {
		t.Run(name, func(t *testing.T) {
			all := policies(t, c.composite)
			p, ok := all[c.policy]
			if !ok {
				t.Fatalf("no policy %q, but %d others", c.policy, len(all))
			}
			if len(p.Spec.PolicyTypes) != 2 {
				t.Errorf("it is for %v only", p.Spec.PolicyTypes)
			}
			for _, port := range []int32{22, 8000, 8080, 8081, 8082, 8083, 8084, 9990, 9991} {
				if want := slices.Contains(c.serves, port); enters(p, port) != want {
					t.Errorf("a stranger reaches port %d: %v", port, !want)
				}
			}
			checkReach(t, p, c.reaches)
		})
	}
}

// checkReach checks which ports of any server the pods of a policy reach. Name servers, also
// those of the node, they always reach, and link-local addresses never.
func checkReach(t *testing.T, p networkingv1.NetworkPolicy, reaches []int32) {
	t.Helper()
	const metadata, metadata6, world, within, nodeCache = "169.254.169.254", "fe80::a9fe:a9fe", "203.0.113.7", "10.1.2.3", "169.254.20.10"
	for _, port := range append([]int32{22, 25, 80, 443, 1234, 4222, 4317, 4318, 6443, 8081, 8222, 8443, 9000, 9990, 9991, 9993, 10250}, reaches...) {
		want := slices.Contains(reaches, port)
		for _, address := range []string{world, within} {
			if leaves(p, address, "TCP", port) != want || leaves(p, address, "UDP", port) {
				t.Errorf("the pods reach port %d of %s: %v", port, address, !want)
			}
		}
		if leaves(p, metadata, "TCP", port) || leaves(p, metadata6, "TCP", port) {
			t.Errorf("the pods reach port %d of link-local addresses", port)
		}
	}
	if !leaves(p, nodeCache, "UDP", 53) || !leaves(p, nodeCache, "TCP", 53) {
		t.Error("the pods reach no DNS")
	}
}

// TestRingReachesItself holds that the root reaches its workers, and these each other.
func TestRingReachesItself(t *testing.T) {
	all := policies(t, "kind: Dllama\nspec: {nodes: 4, modelRef: {name: m}}")
	workers := all["worker-guard"].Spec.PodSelector.MatchLabels
	for policy, ports := range map[string][]int32{"root-guard": {9990, 9991}, "worker-guard": {9990}} {
		for _, port := range ports {
			if !joins(all[policy].Spec.Egress, workers, port) {
				t.Errorf("%s: the pods do not reach port %d of the workers: %+v", policy, port, all[policy].Spec.Egress)
			}
		}
	}
	for _, rule := range all["worker-guard"].Spec.Ingress {
		if opens(rule.Ports, "TCP", 9990) && !slices.ContainsFunc(rule.From, func(p networkingv1.NetworkPolicyPeer) bool { return maps.Equal(p.PodSelector.MatchLabels, workers) }) {
			t.Errorf("the workers refuse each other: %+v", rule)
		}
	}
}

// joins reports whether rules lead to a port of the pods with the labels.
func joins(rules []networkingv1.NetworkPolicyEgressRule, labels map[string]string, port int32) bool {
	return slices.ContainsFunc(rules, func(r networkingv1.NetworkPolicyEgressRule) bool {
		return opens(r.Ports, "TCP", port) && slices.ContainsFunc(r.To, func(p networkingv1.NetworkPolicyPeer) bool {
			return p.PodSelector != nil && maps.Equal(p.PodSelector.MatchLabels, labels)
		})
	})
}

// TestPoliciesFollowReports holds that pods reach all ports as long as a provider of an
// earlier version reports none, that the policies are narrowed when one does, and that they
// stay so when reports go missing.
func TestPoliciesFollowReports(t *testing.T) {
	for name, c := range map[string]struct {
		composite, policy string
		reaches           []int32
	}{
		"Ingress":  {"kind: Ingress\nspec: {backend: {sessions: Static}}", "guard", []int32{4222}},
		"Session":  {"kind: Session\nspec: {modelRef: {name: m}, nats: {url: 'nats://n:4222'}}", "guard", []int32{4222}},
		"Ring":     {"kind: Dllama\nspec: {nodes: 2, modelRef: {name: m}}", "root-guard", []int32{4222, 9000}},
		"Root":     {"kind: Root\nspec: {modelRef: c, modelFile: m.m, tokenizerFile: t.t, image: dllama, serves: team/m, workers: ['w:9990']}", "guard", []int32{4222, 9990}},
		"Model":    {"kind: Model\nspec: {sourceUrl: 'hf://a/b'}", "guard", []int32{443, 4222, 8443, 9000}},
		"Download": {"kind: ModelDownload\nspec: {storagePVC: c, models: [{name: a/b}]}", "guard", []int32{443, 8443}},
	} {
		t.Run(name, func(t *testing.T) {
			req := &fnv1.RunFunctionRequest{
				Observed:          &fnv1.State{Resources: map[string]*fnv1.Resource{}},
				RequiredResources: map[string]*fnv1.Resources{},
			}
			if p := composed(t, c.composite, req, nil)[c.policy]; !leaves(p, "203.0.113.7", "TCP", 31999) || leaves(p, "169.254.169.254", "TCP", 80) {
				t.Errorf("before the upgrade it is %+v", p.Spec.Egress)
			}
			checkReach(t, composed(t, c.composite, req, reported())[c.policy], c.reaches)
			checkReach(t, composed(t, c.composite, req, nil)[c.policy], c.reaches)
		})
	}
}

// TestNoPolicyBeforePorts holds that no policy of Jobs is made open, to be closed when the
// connections are known.
func TestNoPolicyBeforePorts(t *testing.T) {
	composite := composetest.Object(t, guardedMeta+"kind: Model\nspec: {sourceUrl: 'hf://a/b'}")
	rsp, err := router.New(compose.Config{Image: "koldun", Trusted: true}).RunFunction(t.Context(), &fnv1.RunFunctionRequest{
		Observed:          &fnv1.State{Composite: composite},
		RequiredResources: map[string]*fnv1.Resources{"ingresses": {}},
	})
	if err != nil || len(rsp.GetDesired().GetResources()) == 0 {
		t.Fatalf("cannot compose: %v: %v", err, rsp)
	}
	if p := rsp.GetDesired().GetResources()["guard"]; p != nil {
		t.Errorf("it composes %v", p)
	}
}

// TestPoliciesCanBeSwitchedOff holds that nothing but the ports of engines that end when
// strangers connect stays closed.
func TestPoliciesCanBeSwitchedOff(t *testing.T) {
	for name, composite := range map[string]string{
		"Ingress":  "kind: Ingress\nspec: {backend: {sessions: Static, networkPolicy: Disabled}}",
		"Session":  "kind: Session\nspec: {modelRef: {name: m}, nats: {url: 'nats://n:4222'}, networkPolicy: Disabled}",
		"Embedded": "kind: Dllama\nspec: {modelRef: {name: m}, networkPolicy: Disabled}",
		"Model":    "kind: Model\nspec: {sourceUrl: 'hf://a/b', networkPolicy: Disabled}",
		"Download": "kind: ModelDownload\nspec: {storagePVC: c, models: [{name: a/b}], networkPolicy: Disabled}",
	} {
		if all := policies(t, composite); len(all) > 0 {
			t.Errorf("%s: it composes %v", name, all)
		}
	}
	for name, composite := range map[string]string{
		"Ring":   "kind: Dllama\nspec: {nodes: 2, modelRef: {name: m}, networkPolicy: Disabled}",
		"Root":   "kind: Root\nspec: {modelRef: c, modelFile: m.m, tokenizerFile: t.t, image: dllama, networkPolicy: Disabled}",
		"Worker": "kind: Worker\nspec: {image: dllama, networkPolicy: Disabled}",
	} {
		all := policies(t, composite)
		for _, p := range all {
			if enters(p, 9990) || !leaves(p, "169.254.169.254", "TCP", 80) {
				t.Errorf("%s: it composes %v", name, p.Spec)
			}
		}
		if len(all) == 0 {
			t.Errorf("%s: the engine's port is open", name)
		}
	}
}

// TestServiceAccountsReachTheirIdentity holds that pods with a service account of their own
// reach the addresses at which clouds offer its credentials, and the servers behind them.
func TestServiceAccountsReachTheirIdentity(t *testing.T) {
	p := policies(t, "kind: Dllama\nspec: {modelRef: {name: m}, scheduling: {serviceAccountName: s3}}")["root-guard"]
	if !leaves(p, "169.254.170.23", "TCP", 80) || !leaves(p, "203.0.113.7", "TCP", 443) || leaves(p, "203.0.113.7", "TCP", 80) {
		t.Errorf("the policy is %+v", p.Spec)
	}
}
