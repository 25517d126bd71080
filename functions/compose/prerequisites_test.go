package compose_test

import (
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/reason"
)

func thing(apiVersion, kind string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "it", "namespace": "ns"}}}
}

const (
	managedAPI = "koldun.m.gorizond.io/v1alpha1"
	composite  = "apiVersion: koldun.gorizond.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: ns}\n"
)

// found is what the provider has found out about a cluster.
func found(data string) map[string][]string {
	return map[string][]string{"prerequisites": {"{apiVersion: apiextensions.crossplane.io/v1beta1, kind: EnvironmentConfig, metadata: {name: koldun-prerequisites}, data: " + data + "}"}}
}

func condition(rsp *fnv1.RunFunctionResponse, kind string) *fnv1.Condition {
	var out *fnv1.Condition
	for _, c := range rsp.GetConditions() {
		if c.GetType() == kind {
			out = c
		}
	}
	return out
}

func TestPrerequisites(t *testing.T) {
	route, job, bucket := thing("gateway.networking.k8s.io/v1", "HTTPRoute"), thing("batch/v1", "Job"), thing(managedAPI, "Bucket")
	claim := thing("v1", "PersistentVolumeClaim")
	pending := func(spec string) map[string]string {
		return map[string]string{"claim": "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: files}, spec: {" + spec + "}, status: {phase: Pending}}"}
	}
	const classes = "{storageClasses: {names: [fast, slow]}}"
	cases := map[string]struct {
		name     string
		desired  *unstructured.Unstructured
		observed map[string]string
		required map[string][]string
		schemas  map[string]bool
		says     []string // nothing if nothing is missing
		left     bool     // the object is left out
		serves   bool     // the composite serves without it
	}{
		"Nothing":           {name: "route", desired: route, required: found("{absent: [], storageClasses: {names: []}}")},
		"NobodyLooked":      {name: "route", desired: route},
		"NobodyFound":       {name: "route", desired: route, required: map[string][]string{"prerequisites": {}}, schemas: map[string]bool{"HTTPRoute.gateway.networking.k8s.io": true}},
		"NobodyFoundKind":   {name: "route", desired: route, required: map[string][]string{"prerequisites": {}}, schemas: map[string]bool{"HTTPRoute.gateway.networking.k8s.io": false}, left: true, serves: true, says: []string{`HTTPRoute "it" needs the Gateway API`, "kubectl apply"}},
		"NobodyFoundJob":    {name: "job", desired: job, required: map[string][]string{"prerequisites": {}}, schemas: map[string]bool{"Job.batch": false}},
		"KindNotKnown":      {name: "route", desired: route, required: map[string][]string{"prerequisites": {}}},
		"NoGatewayAPI":      {name: "route", desired: route, required: found("{absent: [HTTPRoute.gateway.networking.k8s.io]}"), left: true, serves: true, says: []string{`HTTPRoute "it" needs the Gateway API`, "kubectl apply", "gateway-api"}},
		"RouteExists":       {name: "route", desired: route, observed: map[string]string{"route": "{kind: HTTPRoute}"}, required: found("{absent: [HTTPRoute.gateway.networking.k8s.io]}")},
		"AnotherAbsent":     {name: "route", desired: route, required: found("{absent: [ScaledObject.keda.sh]}")},
		"NoRight":           {name: "job", desired: job, required: found("{forbidden: [Job.batch]}"), left: true, says: []string{`Job "it" needs rights on jobs.batch`, "Crossplane", "kubectl apply --server-side -f package/rbac.yaml"}},
		"NoRightOfRoutes":   {name: "route", desired: route, required: found("{forbidden: [HTTPRoute.gateway.networking.k8s.io]}"), left: true, serves: true, says: []string{"rights on httproutes.gateway.networking.k8s.io,"}},
		"NoKEDA":            {name: "scaler", desired: thing("keda.sh/v1alpha1", "ScaledObject"), required: found("{absent: [ScaledObject.keda.sh]}"), left: true, serves: true, says: []string{"KEDA", "helm install keda"}},
		"NoPrometheus":      {name: "monitor", desired: thing("monitoring.coreos.com/v1", "ServiceMonitor"), required: found("{absent: [ServiceMonitor.monitoring.coreos.com]}"), left: true, serves: true, says: []string{"the Prometheus Operator", "helm install prometheus"}},
		"NoRightOfScalers":  {name: "scaler", desired: thing("autoscaling/v2", "HorizontalPodAutoscaler"), required: found("{forbidden: [HorizontalPodAutoscaler.autoscaling]}"), left: true, serves: true, says: []string{"rights on horizontalpodautoscalers.autoscaling,"}},
		"NoRightOfGuards":   {name: "guard", desired: thing("networking.k8s.io/v1", "NetworkPolicy"), required: found("{forbidden: [NetworkPolicy.networking.k8s.io]}"), left: true, says: []string{"rights on networkpolicies.networking.k8s.io,"}},
		"NoRightOfClaims":   {name: "claim", desired: claim, required: found("{forbidden: [PersistentVolumeClaim]}"), left: true, says: []string{"rights on persistentvolumeclaims,"}},
		"NoProvider":        {name: "bucket", desired: bucket, required: map[string][]string{"prerequisites": {}}, schemas: map[string]bool{"provider": false}, left: true, says: []string{"koldun-provider is not installed", "package/install.yaml"}},
		"ProviderNotKnown":  {name: "bucket", desired: bucket, required: map[string][]string{"prerequisites": {}}},
		"Provider":          {name: "bucket", desired: bucket, required: map[string][]string{"prerequisites": {}}, schemas: map[string]bool{"provider": true}},
		"ProviderFound":     {name: "bucket", desired: bucket, required: found("{}"), schemas: map[string]bool{"provider": false}},
		"ManagedExists":     {name: "bucket", desired: bucket, observed: map[string]string{"queue": "{apiVersion: " + managedAPI + "}"}, required: map[string][]string{"prerequisites": {}}, schemas: map[string]bool{"provider": false}},
		"NoClass":           {name: "claim", desired: claim, observed: pending("storageClassName: gone"), required: found(classes), says: []string{`PersistentVolumeClaim "files" needs StorageClass "gone"`, "fast, slow"}},
		"NoDefaultClass":    {name: "claim", desired: claim, observed: pending(""), required: found("{storageClasses: {names: []}}"), says: []string{"names no StorageClass", "the cluster has none", "kubectl annotate storageclass"}},
		"DefaultClass":      {name: "claim", desired: claim, observed: pending(""), required: found("{storageClasses: {names: [fast], default: fast}}")},
		"Class":             {name: "claim", desired: claim, observed: pending("storageClassName: slow"), required: found(classes)},
		"NoClassWanted":     {name: "claim", desired: claim, observed: pending("storageClassName: ''"), required: found("{storageClasses: {names: []}}")},
		"StaticVolume":      {name: "claim", desired: claim, observed: pending("storageClassName: gone, volumeName: v"), required: found(classes)},
		"ClassesNotKnown":   {name: "claim", desired: claim, observed: pending("storageClassName: gone"), required: found("{}")},
		"ClaimDoesNotExist": {name: "claim", desired: claim, required: found(classes)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rsp := composetest.Run(t, func(call *compose.Call) error {
				call.True("Serving", reason.Available, "it serves")
				if err := call.Desire(c.name, c.desired, compose.Ready); err != nil {
					return err
				}
				return call.Finish(&struct{}{})
			}, composetest.Case{Composite: composite, Crossplane: true, Observed: c.observed, Required: c.required, Schemas: c.schemas})
			if _, there := rsp.GetDesired().GetResources()[c.name]; there == c.left {
				t.Errorf("the object is desired: %v", there)
			}
			serving, around := condition(rsp, "Serving"), condition(rsp, "Prerequisites")
			if len(c.says) == 0 {
				if serving.GetReason() != "Available" || around != nil {
					t.Errorf("something is missing: %v, %v", serving, around)
				}
				return
			}
			conditions := []*fnv1.Condition{around, serving}
			if c.serves {
				conditions = conditions[:1]
				if serving.GetReason() != "Available" {
					t.Errorf("Serving is %v", serving)
				}
			}
			for _, cond := range conditions {
				if cond.GetReason() != "PrerequisiteMissing" || cond.GetStatus() != fnv1.Status_STATUS_CONDITION_FALSE {
					t.Errorf("condition %s has reason %q", cond.GetType(), cond.GetReason())
				}
				for _, text := range c.says {
					if !strings.Contains(cond.GetMessage(), text) {
						t.Errorf("condition %s says %q, want it to say %q", cond.GetType(), cond.GetMessage(), text)
					}
				}
			}
			if ready := rsp.GetDesired().GetComposite().GetReady() == fnv1.Ready_READY_TRUE; ready != c.serves {
				t.Errorf("the composite is ready: %v", ready)
			}
			if rsp.GetMeta().GetTtl().GetSeconds() != 10 {
				t.Errorf("Crossplane looks again after %s", rsp.GetMeta().GetTtl().AsDuration())
			}
		})
	}
}

// While no controller has looked at a managed resource, the claim says why the provider does not run. What is
// served goes on.
func TestProviderDoesNotRun(t *testing.T) {
	provider := func(source, conditions string) string {
		return "{apiVersion: pkg.crossplane.io/v1, kind: Provider, metadata: {name: p}, spec: {package: '" + source + "'}, status: {conditions: [" + conditions + "]}}"
	}
	const (
		ours  = "ghcr.io/gorizond/koldun-provider:v0.1.0"
		ill   = "{type: Installed, status: 'True'}, {type: Healthy, status: 'False', reason: UnhealthyPackageRevision, message: no pod is available}"
		fresh = "{apiVersion: " + managedAPI + ", kind: Bucket, metadata: {name: it, generation: 1}}"
		seen  = "{apiVersion: " + managedAPI + ", kind: Bucket, metadata: {name: it, generation: 2}, status: {conditions: [{type: Synced, status: 'True', observedGeneration: 2}]}}"
		stale = "{apiVersion: " + managedAPI + ", kind: Bucket, metadata: {name: it, generation: 3}, status: {conditions: [{type: Synced, status: 'True', observedGeneration: 2}]}}"
	)
	for name, c := range map[string]struct {
		observed  string
		providers []string // nil: Crossplane has not looked
		serves    bool
		says      string // empty: nothing
		asks      bool
	}{
		"Fresh":        {observed: fresh, providers: []string{provider(ours, ill)}, asks: true, says: `The provider "p" does not run: its condition Healthy is False: no pod is available: see kubectl describe`},
		"Stale":        {observed: stale, providers: []string{provider(ours, ill)}, asks: true, says: "Healthy is False"},
		"Seen":         {observed: seen, providers: []string{provider(ours, ill)}},
		"NotLooked":    {observed: fresh, asks: true},
		"Healthy":      {observed: fresh, providers: []string{provider(ours, "{type: Healthy, status: 'True'}")}, asks: true},
		"Starts":       {observed: fresh, providers: []string{provider(ours, "")}, asks: true},
		"NotInstalled": {observed: fresh, providers: []string{provider("x.example/provider:v1", ill)}, asks: true, says: "is not installed: kubectl apply"},
		"Mirror":       {observed: fresh, providers: []string{provider("x.example/provider:v1", ""), provider("mirror.example/a/koldun-provider@sha256:0", "{type: Installed, status: 'False', reason: UnpackingPackage}")}, asks: true, says: "Installed is False: UnpackingPackage"},
		"Serves":       {observed: fresh, providers: []string{provider(ours, ill)}, asks: true, serves: true, says: "Healthy is False"},
	} {
		t.Run(name, func(t *testing.T) {
			required := found("{}")
			if c.providers != nil {
				required["providers"] = c.providers
			}
			rsp := composetest.Run(t, func(call *compose.Call) error {
				if c.serves {
					call.True("Serving", reason.Available, "it serves")
				} else {
					call.False("Serving", reason.ConnectionPending, "it waits")
				}
				return call.Finish(&struct{}{})
			}, composetest.Case{Composite: composite, Crossplane: true, Observed: map[string]string{"bucket": c.observed}, Required: required})
			if _, asks := rsp.GetRequirements().GetResources()["providers"]; asks != c.asks {
				t.Errorf("Providers are required: %v", asks)
			}
			serving, around := condition(rsp, "Serving"), condition(rsp, "Prerequisites")
			if (around == nil) != (c.says == "") || !strings.Contains(around.GetMessage(), c.says) {
				t.Errorf("Prerequisites is %v, want it to say %q", around, c.says)
			}
			want := "ConnectionPending"
			switch {
			case c.serves:
				want = "Available"
			case c.says != "":
				want = "PrerequisiteMissing"
			}
			if serving.GetReason() != want {
				t.Errorf("Serving is %v, want reason %s", serving, want)
			}
		})
	}
}

// Serving keeps a reason that waiting cannot change, and Prerequisites says when nothing
// is missing any more.
func TestPrerequisitesBesideOtherReasons(t *testing.T) {
	compose1 := func(why reason.Reason) func(*compose.Call) error {
		return func(call *compose.Call) error {
			call.False("Serving", why, "as it is")
			if err := call.Desire("job", thing("batch/v1", "Job"), compose.Ready); err != nil {
				return err
			}
			return call.Finish(&struct{}{})
		}
	}
	missing := composetest.Case{Composite: composite, Crossplane: true, Required: found("{forbidden: [Job.batch]}")}
	if rsp := composetest.Run(t, compose1(reason.SourceInvalid), missing); condition(rsp, "Serving").GetReason() != "SourceInvalid" || condition(rsp, "Prerequisites") == nil {
		t.Errorf("the conditions are %v", rsp.GetConditions())
	}
	rsp := composetest.Run(t, compose1(reason.Downloading), missing)
	if len(rsp.GetConditions()) != 2 || condition(rsp, "Serving").GetReason() != "PrerequisiteMissing" {
		t.Errorf("the conditions are %v", rsp.GetConditions())
	}
	mended := composetest.Case{
		Composite:  composite + "status: {conditions: [{type: Prerequisites, status: 'False', reason: PrerequisiteMissing}]}",
		Crossplane: true, Required: found("{}"),
	}
	if c := condition(composetest.Run(t, compose1(reason.Downloading), mended), "Prerequisites"); c.GetStatus() != fnv1.Status_STATUS_CONDITION_TRUE {
		t.Errorf("the condition is %v", c)
	}
}

// Without Crossplane there is no check: koldun up and koldun render compose everything.
func TestPrerequisitesWithoutCrossplane(t *testing.T) {
	rsp := composetest.Run(t, func(call *compose.Call) error {
		return call.Desire("route", thing("gateway.networking.k8s.io/v1", "HTTPRoute"), compose.Ready)
	}, composetest.Case{Composite: composite, Required: found("{absent: [HTTPRoute.gateway.networking.k8s.io]}")})
	if len(rsp.GetDesired().GetResources()) != 1 || rsp.GetRequirements() != nil {
		t.Errorf("desired are %v, and required %v", composetest.Names(rsp), rsp.GetRequirements())
	}
}
