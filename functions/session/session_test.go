package session_test

import (
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/session"
	"github.com/gorizond/koldun/internal/names"
)

const (
	meta = "apiVersion: koldun.gorizond.io/v1\nkind: Session\nmetadata: {name: s, namespace: ns, generation: 3}\n"
	ref  = "modelRef: {name: m}"
)

func pool(members string) string {
	return "spec: {providerConfigRef: {kind: ProviderConfig, name: kept}}\nstatus: {conditions: [{type: Ready, status: 'True'}], atProvider: {backlog: 5, inFlight: 2, busyRunners: 1, idleRunners: 3, members: [" + members + "]}}"
}

func TestSession(t *testing.T) {
	none := map[string][]string{"ingresses": {}}
	led := map[string][]string{"ingresses": {"metadata: {name: i, namespace: ns}\nspec: {}"}}
	composetest.Table(t, session.Compose, map[string]composetest.Case{
		"New":               {Composite: meta + "spec: {" + ref + "}", Reason: reason.ConnectionPending, Says: "The pool of Dllamas is being prepared"},
		"Idle":              {Composite: meta + "spec: {" + ref + ", scaling: {minDllamas: 0}}", Required: led, Observed: map[string]string{"pool": pool("")}, Reason: reason.Idle, Says: "ns/m"},
		"Alone":             {Composite: meta + "spec: {" + ref + "}", Required: none, Reason: reason.ConnectionPending, Says: "connections"},
		"AloneQueue":        {Composite: meta + "spec: {" + ref + ", dispatcherImage: d, imagePullPolicy: Always, scheduling: {priorityClassName: high}}", Required: none, Observed: map[string]string{"queue": composetest.Ready, "pool": pool("{name: '0', ready: true}")}, Reason: reason.GatewayStarting, Says: "s-leader"},
		"AloneReady":        {Composite: meta + "spec: {" + ref + "}", Required: none, Observed: map[string]string{"queue": composetest.Ready, "dispatcher": composetest.OnePod, "pool": pool("{name: '0', ready: true}")}, Reason: reason.Available, Says: "The pool serves"},
		"AloneUnread":       {Composite: meta + "spec: {" + ref + "}", Observed: map[string]string{"dispatcher": composetest.OnePod, "pool": pool("{name: '0', ready: true}")}, Reason: reason.Available},
		"OwnNATS":           {Composite: meta + "spec: {" + ref + ", nats: {url: 'nats://u:p@h:4222'}}", Required: led, Reason: reason.ConnectionPending},
		"NATSInvalid":       {Composite: meta + "spec: {" + ref + ", nats: {url: 'http://h'}}", Reason: reason.ConnectionInvalid, Says: "spec.nats.url"},
		"NATSInvalidKept":   {Composite: meta + "spec: {" + ref + ", nats: {url: 'http://h'}}", Observed: map[string]string{"dispatcher": composetest.OnePod, "pool": pool("")}, Reason: reason.ConnectionInvalid},
		"OfIngress":         {Composite: strings.Replace(meta, "generation: 3", "labels: {koldun.gorizond.io/ingress: i}", 1) + "spec: {" + ref + "}", Observed: map[string]string{"pool": pool("{name: '0', ready: true, readyWorkers: 3}")}, Reason: reason.Available},
		"ForeignModel":      {Composite: meta + "spec: {modelRef: {name: m, namespace: other}}", Required: led, Observed: map[string]string{"pool": pool("")}, Reason: reason.Idle, Says: "other/m"},
		"PoolRefused":       {Composite: meta + "spec: {" + ref + "}", Required: led, Observed: map[string]string{"pool": "status: {conditions: [{type: Synced, status: 'False', message: no rights}]}"}, Reason: reason.ConnectionPending, Says: "no rights"},
		"Members":           {Composite: meta + "spec: {" + ref + "}", Required: led, Observed: map[string]string{"pool": pool("{name: '10', phase: Draining, ready: true, readyWorkers: 3}, {name: '2', phase: Active}, {name: x}, {name: '0', phase: Drained, ready: true}, {name: '02', ready: true, readyWorkers: 1}")}, Reason: reason.Available, Says: "The pool serves"},
		"NoneReady":         {Composite: meta + "spec: {" + ref + "}", Required: led, Observed: map[string]string{"pool": pool("{name: '1', reason: RootStarting, message: loads}")}, Reason: reason.DllamasStarting, Says: `"s-1" is not ready`},
		"MemberFailed":      {Composite: meta + "spec: {" + ref + "}", Required: led, Observed: map[string]string{"pool": pool("{name: '1', reason: TopologyInvalid, message: 3 does not divide}")}, Reason: reason.TopologyInvalid, Says: "3 does not divide"},
		"Crowded":           {Composite: meta + "spec: {" + ref + "}", Required: led, Observed: map[string]string{"pool": pool("{name: '0', ready: true}, {name: '1', reason: Unschedulable, message: no GPU is free}"), "dispatcher": composetest.OnePod}, Reason: reason.Available, Says: "no GPU is free"},
		"PoolUnready":       {Composite: meta + "spec: {" + ref + "}", Required: led, Observed: map[string]string{"pool": "status: {atProvider: {members: [{name: '1'}]}}"}, Reason: reason.DllamasStarting},
		"Scaling":           {Composite: meta + "spec: {" + ref + ", rootImage: i, replicaPower: 1, scaling: {minDllamas: 2, maxDllamas: 4, scaleUpBacklog: 7, scaleDownIdleSeconds: 60}}", Required: led, Reason: reason.ConnectionPending},
		"ScalingOld":        {Composite: meta + "spec: {" + ref + ", minIdle: 9, maxWorkers: 5}", Required: led, Reason: reason.ConnectionPending},
		"ScalingDesired":    {Composite: meta + "spec: {" + ref + ", scaling: {desiredDllamas: 3, minDllamas: 1, maxDllamas: 9}}", Required: led, Reason: reason.ConnectionPending},
		"ScalingDesiredMax": {Composite: meta + "spec: {" + ref + ", scaling: {desiredDllamas: 99}}", Required: led, Reason: reason.ConnectionPending},
		"ScalingMax":        {Composite: meta + "spec: {" + ref + ", scaling: {maxDllamas: 64}}", Required: led, Reason: reason.ConnectionPending},
		"ScalingOverMax":    {Composite: meta + "spec: {" + ref + ", scaling: {maxDllamas: 65}}", Required: led, Reason: reason.ConnectionPending},
		"Traffic":           {Composite: meta + "spec: {" + ref + ", traffic: {weight: 30}}", Required: led, Observed: map[string]string{"member": composetest.Ready, "pool": pool("")}, Reason: reason.Idle, Says: "ns/m"},
		"TrafficZero":       {Composite: meta + "spec: {" + ref + ", scaling: {minDllamas: 2, maxDllamas: 4}, traffic: {weight: 0}}", Required: led, Observed: map[string]string{"member": composetest.Ready, "pool": pool("")}, Reason: reason.Idle, Says: "ns/m"},
		"TrafficAlias":      {Composite: meta + "spec: {" + ref + ", hash: tenant, traffic: {model: stable, fallback: true}}", Required: led, Observed: map[string]string{"member": composetest.Ready, "pool": pool("")}, Reason: reason.Idle, Says: "ns/stable"},
		"TrafficPending":    {Composite: meta + "spec: {" + ref + ", traffic: {}}", Required: led, Reason: reason.ConnectionPending, Says: "being prepared"},
		"TrafficRefused":    {Composite: meta + "spec: {" + ref + ", traffic: {}}", Required: led, Observed: map[string]string{"member": "status: {conditions: [{type: Synced, status: 'False', message: no rights}]}", "pool": pool("{name: '0', ready: true}")}, Reason: reason.Available},
		"Hash":              {Composite: meta + "spec: {" + ref + ", hash: tenant}", Required: led, Observed: map[string]string{"pool": pool("")}, Reason: reason.Idle},
		"Key":               {Composite: meta + "spec: {" + ref + ", key: ns_m_0123456789abcdef}", Required: led, Observed: map[string]string{"pool": pool("")}, Reason: reason.Idle},
		"KeyOfOther":        {Composite: meta + "spec: {" + ref + ", key: ns_other}", Required: led, Reason: reason.KeyInvalid, Says: "spec.key"},
		"Legacy": {
			Composite: meta + "spec: {" + ref + ", dispatcherMetricsListen: ':1', ttl: 1h, scaling: {activeRequests: 3}, queue: {backlogSubject: a, responseSubjectPrefix: b, assignmentsBucket: c, dllamaSubjectPrefix: d, stateStream: e, ackTimeout: 1s}}",
			Required:  led, Reason: reason.ConnectionPending,
		},
	})
}

// TestStrangersPoolIsNotJoined attacks: a Session that names the key of a pool
// of another namespace or model composes no pool.
func TestStrangersPoolIsNotJoined(t *testing.T) {
	for _, key := range []string{"victim_m", "victim_m_0123456789abcdef", "ns_other", "ns_m_x", names.Session("victim", "m", "token"), "ns_m_0123456789abcdef0"} {
		rsp := composetest.Run(t, session.Compose, composetest.Case{Composite: meta + "spec: {" + ref + ", key: " + key + "}", Observed: map[string]string{"pool": pool("")}})
		if got := composetest.Names(rsp); len(got) > 0 || rsp.GetConditions()[0].GetReason() != string(reason.KeyInvalid) {
			t.Errorf("key %q composes %q with %v", key, got, rsp.GetConditions())
		}
	}
	rsp := composetest.Run(t, session.Compose, composetest.Case{Composite: meta + "spec: {modelRef: {name: m, namespace: victim}}", Required: map[string][]string{"ingresses": {}}})
	if text := rsp.GetDesired().String(); strings.Contains(text, "victim_m") || !strings.Contains(text, "ns_m") {
		t.Errorf("the pool for a Model of another namespace is not of the Session's own: %s", text)
	}
}

func TestSessionWithoutNamespaceIsRefused(t *testing.T) {
	composetest.Refuses(t, session.Compose, "apiVersion: koldun.gorizond.io/v1\nkind: Session\nmetadata: {name: s}\nspec: {}")
}

// What is known of the members of an earlier template says nothing of the Session's spec.
func TestReadyByTemplate(t *testing.T) {
	led := map[string][]string{"ingresses": {"metadata: {name: i, namespace: ns}\nspec: {}"}}
	run := func(spec, template string) (serving reason.Reason, hash string, ready fnv1.Ready) {
		rsp := composetest.Run(t, session.Compose, composetest.Case{
			Composite: meta + "spec: {" + ref + spec + "}", Required: led,
			Observed: map[string]string{
				"dispatcher": composetest.OnePod,
				"pool":       "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {template: '" + template + "', members: [{name: '0', ready: true}]}}",
			},
		})
		pool := rsp.GetDesired().GetResources()["pool"]
		annotations := pool.GetResource().GetFields()["spec"].GetStructValue().GetFields()["forProvider"].GetStructValue().
			GetFields()["dllama"].GetStructValue().GetFields()["annotations"].GetStructValue().GetFields()
		return reason.Reason(rsp.GetConditions()[0].GetReason()), annotations["koldun.gorizond.io/template"].GetStringValue(), pool.GetReady()
	}
	_, first, _ := run("", "")
	for name, c := range map[string]struct {
		spec, template string
		reason         reason.Reason
		ready          fnv1.Ready
	}{
		"Same":        {"", first, reason.Available, fnv1.Ready_READY_TRUE},
		"Scaled":      {", scaling: {minDllamas: 2}", first, reason.Available, fnv1.Ready_READY_TRUE},
		"EarlierSpec": {", nodes: 2", first, reason.DllamasStarting, fnv1.Ready_READY_FALSE},
		"OldProvider": {", nodes: 2", "", reason.Available, fnv1.Ready_READY_TRUE},
		"AnotherPool": {", hash: tenant", first, reason.DllamasStarting, fnv1.Ready_READY_FALSE},
	} {
		t.Run(name, func(t *testing.T) {
			if why, _, ready := run(c.spec, c.template); why != c.reason || ready != c.ready {
				t.Errorf("the reason is %s and the Pool %s, want %s and %s", why, ready, c.reason, c.ready)
			}
		})
	}
}
