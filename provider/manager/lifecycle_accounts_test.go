package manager_test

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

func natsAccountLifecycle() lifecycle {
	namespace := func(w *tenant, name string) string { return w.ns + "-" + name }
	has := func(w *tenant, name string, most int64) error {
		s, err := w.account.server.Accounts().State(w.t.Context(), namespace(w, name))
		if err == nil && (s.Limits.Connections != most || s.Disabled) {
			err = fmt.Errorf("the account is %+v, want %d connections", s, most)
		}
		return err
	}
	return lifecycle{
		server: onNATS, polled: true, clusterScoped: true,
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.NATSAccount{ObjectMeta: metav1.ObjectMeta{Name: namespace(w, name)}, Spec: v1alpha1.NATSAccountSpec{
				ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.NATSAccountParameters{
					Namespace: namespace(w, name), NATSAccountLimits: v1alpha1.NATSAccountLimits{Connections: 10},
				},
			}}
		},
		read: func(w *tenant, name string) (string, error) {
			s, err := w.account.server.Accounts().State(w.t.Context(), namespace(w, name))
			if fault.Is(err, fault.NotFound) {
				return "", nil
			}
			if err != nil {
				return "", err
			}
			return text(s)
		},
		matches: func(w *tenant, name string) error { return has(w, name, 10) },
		update: func(_ *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.NATSAccount).Spec.ForProvider.Connections = 20
		},
		updated: func(w *tenant, _ resource.ModernManaged, name string) error { return has(w, name, 20) },
		drift: func(w *tenant, name string) {
			if err := w.account.server.Accounts().Set(w.t.Context(), namespace(w, name), natsauth.Limits{}, true); err != nil {
				w.t.Fatal(err)
			}
		},
		exist: func(w *tenant, name string) {
			if err := w.account.server.Accounts().Set(w.t.Context(), namespace(w, name), natsauth.Limits{Connections: 10}, true); err != nil {
				w.t.Fatal(err)
			}
		},
	}
}

// The external resource of a NATSUser is what the Secret holds, until it is revoked.
func natsUserLifecycle() lifecycle {
	seen := map[string]natsauth.Life{} // the last user in the Secret of a case
	creds := func(w *tenant, name, user string) string {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "creds-" + name}}
		if err := w.get(s); err != nil {
			return ""
		}
		return string(s.Data[user+".creds"])
	}
	login := func(w *tenant, name, user string) error {
		b, err := bus.Connect(w.t.Context(), bus.Config{URL: w.account.server.URL(), Creds: creds(w, name, user), WithoutJetStream: true})
		if err == nil {
			b.Close()
		}
		return err
	}
	const why = "credentials are made from the keys of the account: there is nothing to find or change"
	return lifecycle{
		server: onNATS,
		resource: func(w *tenant, name string) resource.ModernManaged {
			spec := via(w.ns)
			spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "creds-" + name}
			return &v1alpha1.NATSUser{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.NATSUserSpec{
				ManagedResourceSpec: spec, ForProvider: v1alpha1.NATSUserParameters{Users: []v1alpha1.NATSUserGrant{{Name: "gateway", Role: "gateway"}}},
			}}
		},
		read: func(w *tenant, name string) (string, error) {
			if life, ok := natsauth.LifeOf(creds(w, name, "gateway")); ok {
				seen[name] = life
			}
			state, err := w.account.server.Accounts().State(w.t.Context(), w.ns)
			if last := seen[name]; err != nil || !state.Accepts(last.User, last.Made) {
				return "", err
			}
			return seen[name].User, nil
		},
		matches: func(w *tenant, name string) error { return login(w, name, "gateway") },
		update: func(_ *tenant, m resource.ModernManaged) {
			p := &m.(*v1alpha1.NATSUser).Spec.ForProvider
			p.Users = append(p.Users, v1alpha1.NATSUserGrant{Name: "dispatcher", Role: "dispatcher"})
		},
		updated: func(w *tenant, _ resource.ModernManaged, name string) error { return login(w, name, "dispatcher") },
		skip:    map[string]string{"drift": why, "import": why, "observe": why},
	}
}
