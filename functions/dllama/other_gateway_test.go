package dllama_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/dllama"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// TestGatewayOfAnotherNamespace has a Dllama ask the gateway of the namespace whose Model
// it names.
func TestGatewayOfAnotherNamespace(t *testing.T) {
	const (
		asks    = meta + "spec: {modelRef: {name: m, namespace: other}, "
		ingress = "metadata: {name: front, namespace: other}\nspec: {}"
	)
	claim := asks + "ingressRef: {name: front}}"
	granted := strings.Replace(model("", files), "namespace: ns}", "namespace: other}", 1)
	denied := strings.Replace(granted, "[ns]", "[another]", 1)
	finds := func(model, ingress string) map[string][]string {
		out := map[string][]string{"model": {model}, "other-ingress": {}, "ingresses": {}, "namesake": {}}
		if ingress != "" {
			out["other-ingress"] = []string{ingress}
		}
		return out
	}
	token := "token-" + names.Hash(8, "other", "m")
	connected := map[string]string{"runners": composetest.Ready, "record": composetest.Ready, "registry": composetest.Ready, token: composetest.Ready, "root": composetest.OnePod}
	composetest.Table(t, dllama.Compose, map[string]composetest.Case{
		"Asks":         {Composite: claim, Required: finds(granted, ingress), Observed: connected, Reason: reason.Available, Says: "other/m"},
		"AsksTuned":    {Composite: asks + "expose: {}, ingressRef: {name: front}, engine: {slots: 4}}", Required: finds(granted, strings.Replace(ingress, "{}", "{service: {port: 80}}", 1)), Observed: map[string]string{"ingress": "status: {backendServiceName: s, natsPorts: [4222], conditions: [{type: Serving, status: 'True', reason: Available}]}", "record": composetest.Ready, "registry": composetest.Ready, token: composetest.Ready, "root": composetest.OnePod}, Reason: reason.Available},
		"AsksPending":  {Composite: claim, Required: finds(granted, ingress), Observed: map[string]string{"runners": composetest.Ready, "record": composetest.Ready, "registry": composetest.Ready}, Reason: reason.ConnectionPending},
		"AsksStarting": {Composite: claim, Required: finds(granted, ingress), Observed: map[string]string{"runners": composetest.Ready, "record": composetest.Ready, "registry": composetest.Ready, token: composetest.Ready, "root": "{}"}, Reason: reason.RootStarting, Says: `Ingress "front" in namespace "other" does not answer, or does not know the token yet`},
		"AsksPowered":  {Composite: claim, Required: finds(strings.Replace(granted, "[ns]", "[ns], replicaPower: 2, launchOptions: [--max-seq-len, '512']", 1), ingress), Observed: connected, Reason: reason.Available, Says: "on 1 node"},
		"AsksUnread":   {Composite: claim, Required: finds("metadata: {name: m, namespace: other}\nspec: {allowedNamespaces: 7}", ingress), Observed: connected, Reason: reason.Available},
		"AsksDenied":   {Composite: claim, Required: finds(denied, ingress), Observed: connected, Reason: reason.ModelNotFound, Says: `lacks namespace "ns"`},
		"AsksNobody":   {Composite: claim, Required: finds(granted, ""), Reason: reason.GatewayNotFound, Says: `Ingress "front" does not exist in namespace "other"`},
		"AsksLost":     {Composite: claim, Required: finds(granted, ""), Observed: connected, Reason: reason.GatewayNotFound},
		"AsksItself":   {Composite: strings.Replace(claim, "namespace: other", "namespace: ns", 1), Required: finds(model("", files), ingress), Reason: reason.TopologyInvalid, Says: "spec.ingressRef"},
		"AsksOnTwo":    {Composite: strings.Replace(claim, "spec: {", "spec: {nodes: 2, ", 1), Required: finds(granted, ingress), Reason: reason.TopologyInvalid, Says: "spec.nodes"},
		"AsksImage":    {Composite: strings.Replace(claim, "spec: {", "spec: {rootImage: i, ", 1), Required: finds(granted, ingress), Reason: reason.TopologyInvalid, Says: "spec.rootImage"},
		"AsksThreads":  {Composite: strings.Replace(claim, "spec: {", "spec: {engine: {threads: 4}, ", 1), Required: finds(granted, ingress), Reason: reason.TopologyInvalid, Says: "spec.engine.threads"},
		"AsksByAlias":  {Composite: strings.Replace(claim, "spec: {", "spec: {traffic: {model: alias}, ", 1), Required: finds(granted, ingress), Observed: map[string]string{"runners": composetest.Ready, "registry": composetest.Ready, token: composetest.Ready, "member": composetest.Ready, "root": composetest.OnePod}, Reason: reason.Available, Says: "ns/alias"},
		"AsksNamesake": {Composite: claim, Required: map[string][]string{"model": {granted}, "other-ingress": {ingress}, "ingresses": {}, "namesake": {model("", files)}}, Reason: reason.ModelFailed, Says: "rename one"},
	})
}
