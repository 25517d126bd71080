package hostile_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/controllers"
	"github.com/gorizond/koldun/test/history"
)

const (
	// home is the namespace of the victim, and foe that of the attacker.
	home = history.Namespace
	foe  = "hostile"
	// These are ClusterProviderConfigs: NATS in operator mode; a NATS login that both
	// namespaces share; the same with temporary credentials for a bucket that both share;
	// one that neither may use.
	tenants, common, folders, platform = "tenants", "common", "folders", "platform"
	system                             = cluster.SystemNamespace
)

var shared = controllers.New() //nolint:gochecknoglobals // TestMain stops it

func TestMain(m *testing.M) {
	status := s3test.Run(m)
	shared.Stop()
	os.Exit(status)
}

// A world is a control plane with the provider, its servers and two namespaces.
type world struct {
	*cluster.Cluster

	t      *testing.T
	foe    client.Client // with the rights of the attacker
	nats   *natstest.OperatorServer
	common *natstest.Server
	s3     *s3test.Gateway
	hub    *hubtest.Hub
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		Cluster: shared.Cluster(t), t: t, nats: natstest.StartOperator(t), common: natstest.Start(t), s3: s3test.Start(t, t.TempDir(), ""),
		hub: hubtest.New(t, hubtest.Options{Repo: "org/model"}, map[string][]byte{"config.json": []byte("{}")}),
	}
	if err := w.Apply(t.Context(), cluster.Definitions(cluster.ClaimGroup)...); err != nil {
		t.Fatal(err)
	}
	w.make("", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: foe}})
	if err := w.Client().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: system}}); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	w.enter()
	w.make(system, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "operator"}, Data: w.nats.OperatorSecret()})
	w.make(system, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "login"}, StringData: map[string]string{
		"user": natstest.User, "password": natstest.Password, "AWS_ACCESS_KEY_ID": s3test.AccessKey, "AWS_SECRET_ACCESS_KEY": s3test.SecretKey,
	}})
	login := fmt.Sprintf("{url: '%s', secretRef: {namespace: %s, name: login}}", w.common.URL(), system)
	w.configure(tenants, home+", "+foe, fmt.Sprintf("{url: '%s', operator: {secretRef: {namespace: %s, name: operator}}}", w.nats.URL(), system), "", "")
	w.configure(common, home+", "+foe, login, "", "'*'")
	w.configure(folders, home+", "+foe, login, fmt.Sprintf(", sts: {endpoint: '%s', sharedFolders: [platform]}", s3test.StartSTS(t).Endpoint), "huggingface.co/meta-llama, hub.acme/*/public-*")
	w.configure(platform, system, login, "", "")
	return w
}

// configure makes a ClusterProviderConfig. All have the same object store and hub. hubs are
// the allowed ones: that of the Config without any.
func (w *world) configure(name, namespaces, nats, sts, hubs string) {
	w.t.Helper()
	err := w.Apply(w.t.Context(), fmt.Sprintf(`
apiVersion: koldun.m.gorizond.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: %s}
spec: {allowedNamespaces: {names: [%s]}, sharedLogin: true, nats: %s, s3: {endpoint: '%s', secretRef: {namespace: %s, name: login}%s}, hub: {endpoint: '%s', allowed: [%s]}}`,
		name, namespaces, nats, w.s3.Endpoint, system, sts, w.hub.URL, hubs))
	if err != nil {
		w.t.Fatal(err)
	}
}

// enter gives the attacker all rights to claims and managed resources of its namespace.
func (w *world) enter() {
	w.t.Helper()
	meta := metav1.ObjectMeta{Name: "author"}
	w.make(foe, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{cluster.ClaimGroup, cluster.ManagedGroup}, Resources: []string{"*"}, Verbs: []string{"*"}},
	}})
	w.make(foe, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "author"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: foe}},
	})
	config := w.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: foe, Groups: []string{"system:authenticated"}}
	var err error
	if w.foe, err = client.New(config, client.Options{Mapper: w.Client().RESTMapper()}); err != nil {
		w.t.Fatal(err)
	}
}

// make creates an object. It is deleted after the test unless it is in a namespace that is.
func (w *world) make(namespace string, o client.Object) {
	w.t.Helper()
	o.SetNamespace(namespace)
	if err := w.Client().Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// attack applies an object as the attacker.
func (w *world) attack(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GetNamespace() == "" {
		o.SetNamespace(foe)
	}
	return w.foe.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(foe), client.ForceOwnership)
}

// composed returns what the composition function says about a composite, for which it
// finds what the API server has.
func (w *world) composed(ctx context.Context, o *unstructured.Unstructured) (string, error) {
	observed, err := resource(o.Object)
	if err != nil {
		return "", err
	}
	f := router.New(compose.Config{Image: "koldun:test"})
	req := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: observed}, RequiredResources: map[string]*fnv1.Resources{}}
	for {
		rsp, err := f.RunFunction(ctx, req)
		if err != nil {
			return "", err
		}
		more := false
		for key, s := range rsp.GetRequirements().GetResources() {
			if _, known := req.RequiredResources[key]; known {
				continue
			}
			if req.RequiredResources[key], err = w.required(ctx, s); err != nil {
				return "", err
			}
			more = true
		}
		if more {
			continue
		}
		said := ""
		for _, c := range rsp.GetConditions() {
			said += c.GetType() + ": " + c.GetMessage() + "\n"
		}
		for _, r := range rsp.GetResults() {
			said += r.GetMessage() + "\n"
		}
		return said, nil
	}
}

// required returns the objects of a requirement.
func (w *world) required(ctx context.Context, s *fnv1.ResourceSelector) (*fnv1.Resources, error) {
	out := &fnv1.Resources{}
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(s.GetApiVersion())
	list.SetKind(s.GetKind() + "List")
	if err := w.Client().List(ctx, list, client.InNamespace(s.GetNamespace()), client.MatchingLabels(s.GetMatchLabels().GetLabels())); err != nil {
		return out, nil //nolint:nilerr // the cluster does not have the kind
	}
	for _, o := range list.Items {
		if s.GetMatchName() != "" && o.GetName() != s.GetMatchName() {
			continue
		}
		r, err := resource(o.Object)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, r)
	}
	return out, nil
}

// resource converts an object for the function.
func resource(fields map[string]any) (*fnv1.Resource, error) {
	s, err := structpb.NewStruct(fields)
	return &fnv1.Resource{Resource: s}, err
}
