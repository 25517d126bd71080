package manager_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/natsauth"
)

// withoutOperator is why a case is skipped that stops or changes the world's servers.
const withoutOperator = "the world's own NATS server, which the case stops or logs in to, has no operator"

// operate starts a server in operator mode, and names it in a ClusterProviderConfig for
// the resources of a kind.
func operate(w *world, kind string) *natstest.OperatorServer {
	w.t.Helper()
	s := natstest.StartOperator(w.t)
	// The platform's own namespace, which outlives those of its users.
	const platform = metav1.NamespaceDefault
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: platform, Name: operatorConfig(w, kind)}, Data: s.OperatorSecret()}
	p := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: operatorConfig(w, kind)}}
	p.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{Names: []string{w.ns}}
	p.Spec.NATS = &v1alpha1.NATSConfig{
		URL: s.URL(), Operator: &v1alpha1.NATSOperator{SecretRef: v1alpha1.CredentialsReference{Namespace: platform, Name: secret.Name}},
	}
	// What has no part of its own leaves it to the default one, and so keeps that, too.
	p.Spec.S3 = &v1alpha1.S3Config{Endpoint: "https://s3.invalid"}
	for _, o := range []client.Object{secret, p} {
		if err := w.client.Create(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = w.client.Delete(context.Background(), o) })
	}
	return s
}

// operatorConfig is the name of the ClusterProviderConfig of operate, and of its Secret.
func operatorConfig(w *world, kind string) string { return w.ns + "-" + strings.ToLower(kind) }

// viaOperator is via for the servers of operate.
func viaOperator(w *world, kind string) xpv2.ManagedResourceSpec {
	spec := via()
	spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.KindClusterProviderConfig, Name: operatorConfig(w, kind)}
	return spec
}

func natsAccountLifecycle() lifecycle {
	var accounts *natsauth.Accounts
	namespace := func(w *world, name string) string { return w.ns + "-" + name }
	has := func(w *world, name string, most int64) error {
		s, err := accounts.State(w.t.Context(), namespace(w, name))
		if err == nil && (s.Limits.Connections != most || s.Disabled) {
			err = fmt.Errorf("the account is %+v, want %d connections", s, most)
		}
		return err
	}
	return lifecycle{
		server: onNATS, polled: true, clusterScoped: true,
		prepare: func(w *world) { accounts = operate(w, v1alpha1.KindNATSAccount).Accounts() },
		resource: func(w *world, name string) resource.ModernManaged {
			return &v1alpha1.NATSAccount{ObjectMeta: metav1.ObjectMeta{Name: namespace(w, name)}, Spec: v1alpha1.NATSAccountSpec{
				ManagedResourceSpec: viaOperator(w, v1alpha1.KindNATSAccount), ForProvider: v1alpha1.NATSAccountParameters{
					Namespace: namespace(w, name), NATSAccountLimits: v1alpha1.NATSAccountLimits{Connections: 10},
				},
			}}
		},
		read: func(w *world, name string) (string, error) {
			s, err := accounts.State(w.t.Context(), namespace(w, name))
			if fault.Is(err, fault.NotFound) {
				return "", nil
			}
			if err != nil {
				return "", err
			}
			return text(s)
		},
		matches: func(w *world, name string) error { return has(w, name, 10) },
		update: func(_ *world, m resource.ModernManaged) {
			m.(*v1alpha1.NATSAccount).Spec.ForProvider.Connections = 20
		},
		updated: func(w *world, _ resource.ModernManaged, name string) error { return has(w, name, 20) },
		drift: func(w *world, name string) {
			if err := accounts.Set(w.t.Context(), namespace(w, name), natsauth.Limits{}, true); err != nil {
				w.t.Fatal(err)
			}
		},
		exist: func(w *world, name string) {
			if err := accounts.Set(w.t.Context(), namespace(w, name), natsauth.Limits{Connections: 10}, true); err != nil {
				w.t.Fatal(err)
			}
		},
		skip: map[string]string{"outage": withoutOperator, "credentials": withoutOperator},
	}
}

// The external resource of a NATSUser is what the Secret holds, until it is revoked.
func natsUserLifecycle() lifecycle {
	var server *natstest.OperatorServer
	seen := map[string]natsauth.Life{} // the last user in the Secret of a case
	creds := func(w *world, name, user string) string {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "creds-" + name}}
		if err := w.get(s); err != nil {
			return ""
		}
		return string(s.Data[user+".creds"])
	}
	login := func(w *world, name, user string) error {
		b, err := bus.Connect(w.t.Context(), bus.Config{URL: server.URL(), Creds: creds(w, name, user), WithoutJetStream: true})
		if err == nil {
			b.Close()
		}
		return err
	}
	const why = "credentials are made from the keys of the account: there is nothing to find or change"
	return lifecycle{
		server:  onNATS,
		prepare: func(w *world) { server = operate(w, v1alpha1.KindNATSUser) },
		resource: func(w *world, name string) resource.ModernManaged {
			spec := viaOperator(w, v1alpha1.KindNATSUser)
			spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "creds-" + name}
			return &v1alpha1.NATSUser{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.NATSUserSpec{
				ManagedResourceSpec: spec, ForProvider: v1alpha1.NATSUserParameters{Users: []v1alpha1.NATSUserGrant{{Name: "gateway", Role: "gateway"}}},
			}}
		},
		read: func(w *world, name string) (string, error) {
			if life, ok := natsauth.LifeOf(creds(w, name, "gateway")); ok {
				seen[name] = life
			}
			state, err := server.Accounts().State(w.t.Context(), w.ns)
			if last := seen[name]; err != nil || !state.Accepts(last.User, last.Made) {
				return "", err
			}
			return seen[name].User, nil
		},
		matches: func(w *world, name string) error { return login(w, name, "gateway") },
		update: func(_ *world, m resource.ModernManaged) {
			p := &m.(*v1alpha1.NATSUser).Spec.ForProvider
			p.Users = append(p.Users, v1alpha1.NATSUserGrant{Name: "dispatcher", Role: "dispatcher"})
		},
		updated: func(w *world, _ resource.ModernManaged, name string) error { return login(w, name, "dispatcher") },
		skip: map[string]string{
			"drift": why, "import": why, "observe": why, "outage": withoutOperator, "credentials": withoutOperator,
		},
	}
}
