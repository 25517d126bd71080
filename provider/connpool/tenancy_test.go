package connpool_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
	"github.com/gorizond/koldun/test/waittest"
)

// An operatorScene is a ClusterProviderConfig of servers in operator mode.
type operatorScene struct {
	*scene
	server *natstest.OperatorServer
}

func newOperatorScene(t *testing.T) operatorScene {
	t.Helper()
	return newOperatorSceneOn(t, natstest.StartOperator(t))
}

func newOperatorSceneOn(t *testing.T, server *natstest.OperatorServer) operatorScene {
	t.Helper()
	s := newScene(t, server.URL())
	operator := server.OperatorSecret()
	operator["operator.nk"] = append(operator["operator.nk"], '\n') // as an editor leaves it
	for _, obj := range []*corev1.Secret{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "platform", Name: "operator"},
		Data:       operator,
	}, {
		ObjectMeta: metav1.ObjectMeta{Namespace: "platform", Name: "address"},
	}} {
		if err := s.api.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	config := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "tenants"}}
	config.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{Names: []string{"*"}}
	config.Spec.NATS = &v1alpha1.NATSConfig{
		URL: server.URL(), SecretRef: &v1alpha1.CredentialsReference{Namespace: "platform", Name: "address"},
		Operator: &v1alpha1.NATSOperator{SecretRef: v1alpha1.CredentialsReference{Namespace: "platform", Name: "operator"}},
	}
	if err := s.api.Create(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	return operatorScene{s, server}
}

// of returns the connections of a Stream.
func (s operatorScene) of(namespace, name string) *connpool.Set {
	owner := requeue.Key{Kind: "Stream", NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
	return s.pool.For(owner, &xpv2.ProviderConfigReference{Kind: v1alpha1.KindClusterProviderConfig, Name: "tenants"})
}

// TestAccountOfEachNamespace connects for two namespaces. What their workloads get is the
// address only.
func TestAccountOfEachNamespace(t *testing.T) {
	ctx := t.Context()
	s := newOperatorScene(t)
	ids := map[string]string{}
	for _, namespace := range []string{"a", "b"} {
		set := s.of(namespace, "x")
		b, env, err := set.NATS(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(env) != 1 || string(env["NATS_URL"]) != s.server.URL() {
			t.Errorf("workloads of namespace %q get %d variables, want NATS_URL only", namespace, len(env))
		}
		if _, err := b.JetStream().AccountInfo(ctx); err != nil {
			t.Errorf("namespace %q: %v", namespace, err)
		}
		o, err := set.Operator(ctx)
		if err != nil {
			t.Fatal(err)
		}
		ids[namespace] = o.Account
		again := s.of(namespace, "y")
		if _, _, err := again.NATS(ctx); err != nil || again.Identity() != set.Identity() {
			t.Errorf("two resources of namespace %q have different connections (%v)", namespace, err)
		}
	}
	if ids["a"] == ids["b"] || !strings.HasPrefix(ids["a"], "A") {
		t.Errorf("the accounts are %v", ids)
	}
	if _, _, err := s.of("", "x").NATS(ctx); !fault.Is(err, fault.Unsupported) {
		t.Errorf("a resource without a namespace: %v", err)
	}
}

// TestAccountComesBack removes an account under the provider, which makes it again.
func TestAccountComesBack(t *testing.T) {
	ctx := t.Context()
	s := newOperatorScene(t)
	b, _, err := s.of("a", "x").NATS(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.server.Accounts().Remove(ctx, "a", true); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the server to refuse the user", func() bool { return fault.Is(b.Lost(), fault.Denied) })
	waittest.Until(t, "another connection", func() bool {
		b, _, err := s.of("a", "x").NATS(ctx)
		return err == nil && b.Connected()
	})
}

// TestOperatorSecrets leaves out or changes one key of the Secret at a time.
func TestOperatorSecrets(t *testing.T) {
	s := newOperatorScene(t)
	other, err := natsauth.NewAuthority("other")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		secret, key, value, says string
	}{
		"NoSeed":     {"operator", "operator.nk", "", "operator.nk"},
		"NoSystem":   {"operator", "system.creds", "", "system.creds"},
		"ShortKey":   {"operator", "accounts.key", "short", "at least 32"},
		"OtherSeed":  {"operator", "operator.nk", string(other.Signing), "does not list the signing key"},
		"SystemSeed": {"operator", "operator.nk", string(other.SystemUsers), "no operator's"},
		"Login":      {"address", "password", "p", "remove the login"},
	} {
		key := types.NamespacedName{Namespace: "platform", Name: c.secret}
		var secret corev1.Secret
		if err := s.api.Get(t.Context(), key, &secret); err != nil {
			t.Fatal(err)
		}
		good := secret.DeepCopy().Data
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[c.key] = []byte(c.value)
		if err := s.api.Update(t.Context(), &secret); err != nil {
			t.Fatal(err)
		}
		_, _, err := s.of("team-"+strings.ToLower(name), "x").NATS(t.Context())
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.says) || c.value != "" && len(c.value) > 8 && strings.Contains(err.Error(), c.value) {
			t.Errorf("%s: %v, want an error of kind Invalid with %q and without the secret", name, err, c.says)
		}
		secret.Data = good
		if err := s.api.Update(t.Context(), &secret); err != nil {
			t.Fatal(err)
		}
	}
}
