package connection_test

import (
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/reason"
)

var owner = connection.Owner{Kind: "model", Namespace: "ns", Name: "m"}

func secret(name, namespace string) *v1.SecretReference {
	return &v1.SecretReference{Name: name, Namespace: namespace}
}

func TestNamed(t *testing.T) {
	cases := map[string]struct {
		in      v1.NATSConnection
		servers string
		secret  string
		ref     string // kind/name
		problem string
	}{
		"Nothing":       {},
		"URL":           {in: v1.NATSConnection{URL: "nats://a:4222, tls://b"}, servers: "nats://a:4222,tls://b"},
		"WebSocket":     {in: v1.NATSConnection{URL: "ws://a,wss://b"}, servers: "ws://a,wss://b"},
		"Password":      {in: v1.NATSConnection{URL: "nats://u:secret-word@a"}, servers: "nats://a", secret: "m-model-nats-credentials"},
		"Secret":        {in: v1.NATSConnection{URL: "nats://u:secret-word@a", CredentialsSecret: secret("s", "")}, servers: "nats://a", secret: "s"},
		"SecretHere":    {in: v1.NATSConnection{CredentialsSecret: secret("s", "ns")}, secret: "s"},
		"SecretForeign": {in: v1.NATSConnection{CredentialsSecret: secret("s", "other")}, problem: `spec.nats.credentialsSecret: Secret "s" is in namespace "other"`},
		"Ref":           {in: v1.NATSConnection{URL: "nats://a", ProviderConfigRef: &v1.ProviderConfigReference{Name: "p"}}, ref: "ProviderConfig/p"},
		"ClusterRef":    {in: v1.NATSConnection{ProviderConfigRef: &v1.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "p"}}, ref: "ClusterProviderConfig/p"},
		"Scheme":        {in: v1.NATSConnection{URL: "http://u:secret-word@a"}, problem: `spec.nats.url: scheme "http"`},
		"NoHost":        {in: v1.NATSConnection{URL: "nats://a,secret-word"}, problem: "spec.nats.url: it is not nats://HOST:PORT"},
		"Broken":        {in: v1.NATSConnection{URL: "nats://%zz:secret-word@a"}, problem: "spec.nats.url: it is not nats://HOST:PORT"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, problem := connection.Named(owner, "spec.nats", c.in)
			if !strings.Contains(problem.Message, c.problem) || (problem.Message == "") != (c.problem == "") || strings.Contains(problem.Message, "secret-word") {
				t.Fatalf("the problem is %q, want %q", problem.Message, c.problem)
			}
			if c.problem != "" && problem.Reason != reason.ConnectionInvalid {
				t.Errorf("the reason is %q", problem.Reason)
			}
			servers, secret, ref := "", "", ""
			if got.NATS != nil {
				servers = got.NATS.URL
				if got.NATS.SecretRef != nil {
					secret = got.NATS.SecretRef.Name
				}
			}
			if got.Ref != nil {
				ref = got.Ref.Kind + "/" + got.Ref.Name
			}
			if servers != c.servers || secret != c.secret || ref != c.ref {
				t.Errorf("got servers %q, Secret %q, reference %q", servers, secret, ref)
			}
		})
	}
}

func TestS3(t *testing.T) {
	got, problem := connection.S3(owner, "spec.objectStorage", v1.ObjectStorage{Endpoint: "http://h:9000/", Region: "r", SecretRef: secret("s", "ns")})
	if problem.Message != "" || got.S3.Endpoint != "http://h:9000" || got.S3.Region != "r" || got.S3.SecretRef.Name != "s" {
		t.Errorf("got %+v, %v", got.S3, problem)
	}
	if _, problem := connection.S3(owner, "spec.objectStorage", v1.ObjectStorage{SecretRef: secret("s", "other")}); problem.Reason != reason.ConnectionInvalid {
		t.Errorf("a Secret of another namespace: %v", problem)
	}
	if got, _ := connection.S3(owner, "f", v1.ObjectStorage{Region: "r"}); got.S3 != nil || got.Ref != nil {
		t.Errorf("a region alone is %+v", got)
	}
	for kind, want := range map[string]string{"": "ProviderConfig", "ClusterProviderConfig": "ClusterProviderConfig"} {
		if got, _ := connection.S3(owner, "f", v1.ObjectStorage{Endpoint: "http://h", ProviderConfigRef: &v1.ProviderConfigReference{Kind: kind, Name: "p"}}); got.Ref.Kind != want || got.S3 != nil {
			t.Errorf("a reference is %+v", got)
		}
	}
}

func TestJoin(t *testing.T) {
	nats, _ := connection.Named(owner, "f", v1.NATSConnection{URL: "nats://a"})
	s3, _ := connection.S3(owner, "f", v1.ObjectStorage{Endpoint: "http://h"})
	ref := connection.Connection{Ref: connection.Default()}
	if got, problem := connection.Join(nats, s3); problem.Message != "" || got.NATS == nil || got.S3 == nil {
		t.Errorf("got %+v, %v", got, problem)
	}
	if got, problem := connection.Join(nats, ref); problem.Message != "" || got.Ref == nil || got.NATS != nil {
		t.Errorf("got %+v, %v", got, problem)
	}
	if got, problem := connection.Join(ref, connection.Connection{}); problem.Message != "" || got.Ref == nil {
		t.Errorf("got %+v, %v", got, problem)
	}
	if _, problem := connection.Join(ref, s3); problem.Reason != reason.ConnectionInvalid || !strings.Contains(problem.Message, "objectStorage.providerConfigRef") {
		t.Errorf("got %v", problem)
	}
}

const model = "apiVersion: koldun.gorizond.io/v1\nkind: Model\nmetadata: {name: m, namespace: ns}\n"

// composed returns what NATS and ComposeOrKeep compose for an owner.
func composed(t *testing.T, own *v1.NATSConnection, c composetest.Case) (ref *v1.ProviderConfigReference, problem connection.Problem, rsp *fnv1.RunFunctionResponse) {
	t.Helper()
	c.Composite = model
	rsp = composetest.Run(t, func(call *compose.Call) error {
		var nats connection.Connection
		nats, problem = connection.NATS(call, owner, "spec.nats", own)
		var err error
		ref, err = nats.ComposeOrKeep(call, owner, problem, "queue")
		return err
	}, c)
	return ref, problem, rsp
}

func TestComposeOrKeep(t *testing.T) {
	ingress := func(name, nats string) string {
		return "metadata: {name: " + name + ", namespace: ns}\nspec: {backend: {nats: " + nats + "}}"
	}
	cases := map[string]struct {
		own     *v1.NATSConnection
		in      composetest.Case
		ref     string
		names   string
		problem reason.Reason
	}{
		"Default":   {ref: ""},
		"Own":       {own: &v1.NATSConnection{URL: "nats://u:p@a"}, ref: "ProviderConfig/m-model-connection", names: "connection nats-credentials"},
		"Token":     {own: &v1.NATSConnection{URL: "nats://tok@a"}, ref: "ProviderConfig/m-model-connection", names: "connection nats-credentials"},
		"Plain":     {own: &v1.NATSConnection{URL: "nats://a"}, ref: "ProviderConfig/m-model-connection", names: "connection"},
		"Ref":       {own: &v1.NATSConnection{ProviderConfigRef: connection.Default()}, ref: "ClusterProviderConfig/default"},
		"Inherited": {in: composetest.Case{Required: map[string][]string{"ingresses": {ingress("i", "{url: 'nats://u:p@a'}")}}}, ref: "ProviderConfig/m-model-connection", names: "connection"},
		"InheritedBoth": {
			in:  composetest.Case{Required: map[string][]string{"ingresses": {ingress("i", "{url: 'nats://a', credentialsSecret: {name: s}}"), ingress("j", "{url: 'nats://a', credentialsSecret: {name: s}}")}}},
			ref: "ProviderConfig/m-model-connection", names: "connection",
		},
		"InheritedNone": {in: composetest.Case{Required: map[string][]string{"ingresses": {"metadata: {name: i}\nspec: {}"}}}},
		"Ambiguous":     {in: composetest.Case{Required: map[string][]string{"ingresses": {ingress("i", "{providerConfigRef: {name: a}}"), ingress("j", "{providerConfigRef: {name: b}}")}}}, problem: reason.ConnectionAmbiguous},
		"AmbiguousNone": {in: composetest.Case{Required: map[string][]string{"ingresses": {ingress("i", "{url: 'nats://a'}"), "metadata: {name: j}\nspec: {}"}}}, problem: reason.ConnectionAmbiguous},
		"Kept": {
			own: &v1.NATSConnection{URL: "http://h"},
			in: composetest.Case{Observed: map[string]string{
				"nats-credentials": "metadata: {name: c, namespace: ns}\ndata: {user: dQ==}", "connection": "metadata: {name: p, namespace: ns}\nspec: {nats: {url: 'nats://a'}}",
				"queue": "spec: {providerConfigRef: {kind: ProviderConfig, name: kept}}",
			}},
			ref: "ProviderConfig/kept", names: "connection nats-credentials", problem: reason.ConnectionInvalid,
		},
		"NothingKept": {own: &v1.NATSConnection{URL: "http://h"}, problem: reason.ConnectionInvalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ref, problem, rsp := composed(t, c.own, c.in)
			got := ""
			if ref != nil {
				got = ref.Kind + "/" + ref.Name
			}
			if got != c.ref || problem.Reason != c.problem || strings.Join(composetest.Names(rsp), " ") != c.names {
				t.Errorf("got reference %q, problem %v, resources %q", got, problem, composetest.Names(rsp))
			}
		})
	}
	_, _, rsp := composed(t, &v1.NATSConnection{URL: "nats://user:word@a"}, composetest.Case{})
	data := rsp.GetDesired().GetResources()["nats-credentials"].GetResource().GetFields()["data"].GetStructValue().AsMap()
	if data["user"] != "dXNlcg==" || data["password"] != "d29yZA==" {
		t.Errorf("the Secret holds %v", data)
	}
	_, _, rsp = composed(t, &v1.NATSConnection{URL: "nats://tok@a"}, composetest.Case{})
	if data := rsp.GetDesired().GetResources()["nats-credentials"].GetResource().GetFields()["data"].GetStructValue().AsMap(); data["token"] != "dG9r" {
		t.Errorf("the Secret holds %v", data)
	}
	_, _, rsp = composed(t, &v1.NATSConnection{URL: "http://h"}, cases["Kept"].in)
	kept := rsp.GetDesired().GetResources()
	if text := kept["connection"].String() + kept["nats-credentials"].String(); !strings.Contains(text, "nats://a") || !strings.Contains(text, "dQ==") || !strings.Contains(text, `"p"`) || !strings.Contains(text, `"c"`) {
		t.Errorf("kept is %s", text)
	}
}

func TestSecretNames(t *testing.T) {
	if got := connection.BusSecret("model", "m") + " " + connection.StoreSecret("model", "m"); got != "m-model-nats m-model-s3" {
		t.Errorf("got %q", got)
	}
}
