package router_test

import (
	"net/netip"
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

// policies returns the NetworkPolicies that a composite composes, when its managed
// resources are ready.
func policies(t *testing.T, composite string) map[string]networkingv1.NetworkPolicy {
	t.Helper()
	req := &fnv1.RunFunctionRequest{
		Observed:          &fnv1.State{Composite: composetest.Object(t, guardedMeta+composite), Resources: map[string]*fnv1.Resource{}},
		RequiredResources: map[string]*fnv1.Resources{},
	}
	out := map[string]networkingv1.NetworkPolicy{}
	for range 8 {
		rsp, err := router.New(compose.Config{Image: "koldun", Trusted: true}).RunFunction(t.Context(), req)
		if err != nil || len(rsp.GetResults()) > 0 {
			t.Fatalf("cannot compose %s: %v: %v", composite, err, rsp.GetResults())
		}
		for key, want := range rsp.GetRequirements().GetResources() {
			items := &fnv1.Resources{}
			if manifest, exists := guardedWorld()[want.GetKind()]; exists {
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
			fields["status"] = map[string]any{
				"conditions": []any{map[string]any{"type": "Ready", "status": "True"}, map[string]any{"type": "Synced", "status": "True"}},
				"atProvider": map[string]any{"commit": "0123456789012345678901234567890123456789", "configured": true},
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
	const metadata, metadata6, world = "169.254.169.254", "fe80::a9fe:a9fe", "203.0.113.7"
	type attack struct {
		composite string
		policy    string
		serves    []int32 // ports that strangers reach
		outside   bool    // whether the pods reach servers
	}
	for name, c := range map[string]attack{
		"Gateway":         {"kind: Ingress\nspec: {backend: {sessions: Static}}", "guard", []int32{8082, 8083}, true},
		"SessionDispatch": {"kind: Session\nspec: {modelRef: {name: m}, nats: {url: 'nats://n:4222'}}", "guard", []int32{8083}, true},
		"Embedded":        {"kind: Dllama\nspec: {modelRef: {name: m}}", "root-guard", []int32{8081, 9991}, true},
		"RingRoot":        {"kind: Dllama\nspec: {nodes: 2, modelRef: {name: m}}", "root-guard", []int32{8081, 9991}, true},
		"RingWorkers":     {"kind: Dllama\nspec: {nodes: 2, modelRef: {name: m}}", "worker-guard", []int32{9991}, false},
		"Root":            {"kind: Root\nspec: {modelRef: c, modelFile: m.m, tokenizerFile: t.t, image: dllama}", "guard", []int32{8081, 9991}, true},
		"Worker":          {"kind: Worker\nspec: {image: dllama}", "guard", []int32{9991}, false},
		"JobsOfModels":    {"kind: Model\nspec: {sourceUrl: 'hf://a/b'}", "guard", []int32{8084}, true},
		"JobsOfDownloads": {"kind: ModelDownload\nspec: {storagePVC: c, models: [{name: a/b}]}", "guard", []int32{8084}, true},
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
				want := false
				for _, open := range c.serves {
					want = want || open == port
				}
				if enters(p, port) != want {
					t.Errorf("a stranger reaches port %d: %v", port, !want)
				}
			}
			for address, want := range map[string]bool{metadata: false, metadata6: false, world: c.outside, "10.1.2.3": c.outside} {
				if leaves(p, address, "TCP", 443) != want || leaves(p, address, "UDP", 443) {
					t.Errorf("the pods reach %s: %v", address, !want)
				}
			}
			if leaves(p, "169.254.20.10", "UDP", 53) != c.outside { // a DNS cache of the node
				t.Errorf("the pods reach DNS: %v", !c.outside)
			}
		})
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
// reach the addresses at which clouds offer its credentials.
func TestServiceAccountsReachTheirIdentity(t *testing.T) {
	p := policies(t, "kind: Model\nspec: {sourceUrl: 'hf://a/b', scheduling: {serviceAccountName: s3}}")["guard"]
	if !leaves(p, "169.254.170.23", "TCP", 80) {
		t.Errorf("the policy is %+v", p.Spec)
	}
}
