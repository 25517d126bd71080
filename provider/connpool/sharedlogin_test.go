package connpool_test

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/nats-io/nats-server/v2/server"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
)

// TestNoSharedLoginUnlessThePlatformSaysSo has a namespace take what it gets of connections that
// serve several namespaces: a login of NATS or of the object store only if the platform says
// that they share it.
func TestNoSharedLoginUnlessThePlatformSaysSo(t *testing.T) {
	named := func(names ...string) *v1alpha1.AllowedNamespaces { return &v1alpha1.AllowedNamespaces{Names: names} }
	selected := &v1alpha1.AllowedNamespaces{Names: []string{"ns"}, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}}
	const natsRefused, s3Refused = `one login for nats. A platform engineer has to set spec.nats.operator, name one namespace in spec.allowedNamespaces.names and no selector, or set spec.sharedLogin: true`, `one login for s3. A platform engineer has to set spec.s3.sts`
	for name, c := range map[string]struct {
		allowed  *v1alpha1.AllowedNamespaces
		said     bool
		sts      bool
		nats, s3 string // why it is refused; empty if it is not
	}{
		"Label":    {nats: natsRefused, s3: s3Refused},
		"All":      {allowed: named("*"), nats: natsRefused, s3: s3Refused},
		"Two":      {allowed: named("ns", "other"), nats: natsRefused, s3: s3Refused},
		"Selected": {allowed: selected, nats: natsRefused, s3: s3Refused},
		"STS":      {allowed: named("*"), sts: true, nats: natsRefused},
		"One":      {allowed: named("ns")},
		"Said":     {allowed: named("*"), said: true},
	} {
		t.Run(name, func(t *testing.T) {
			url := "nats://" + serve(t, server.Options{})
			s := newScene(t, url)
			login := &v1alpha1.CredentialsReference{Namespace: "platform", Name: "store"}
			shared := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "shared"}}
			shared.Spec.AllowedNamespaces, shared.Spec.SharedLogin = c.allowed, c.said
			shared.Spec.NATS = &v1alpha1.NATSConfig{URL: url}
			shared.Spec.S3 = &v1alpha1.S3Config{Endpoint: "http://127.0.0.1:1", SecretRef: login}
			if c.sts {
				shared.Spec.S3.STS = &v1alpha1.S3STS{}
			}
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "platform", Name: "store"}, Data: map[string][]byte{"accessKey": []byte("a"), "secretKey": []byte("b")}}
			for _, err := range []error{s.api.Create(t.Context(), shared), s.api.Create(t.Context(), secret)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			labels := labelled{v1alpha1.LabelConnection: v1alpha1.ConnectionAllowed, "team": "a"}
			pool := connpool.NewPool(connpool.Program{Name: "koldun test"}, s.api, connpool.NewSecrets(s.api, s.api), requeue.NewTracker(), connpool.Cluster{Namespaces: labels})
			t.Cleanup(pool.Close)
			set := pool.For(s.owner, &xpv2.ProviderConfigReference{Kind: v1alpha1.KindClusterProviderConfig, Name: "shared"})
			_, env, err := set.NATS(t.Context())
			check(t, "NATS", err, c.nats)
			if c.nats != "" && (!connpool.IsNotAllowed(err) || env != nil) {
				t.Errorf("NATS gives %d variables and %v", len(env), err)
			}
			_, cfg, err := set.S3(t.Context())
			check(t, "S3", err, c.s3)
			if c.s3 != "" && (!connpool.IsNotAllowed(err) || cfg.SecretKey != "") {
				t.Errorf("S3 gives a key, and %v", err)
			}
		})
	}
}
