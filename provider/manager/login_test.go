package manager_test

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/nats-io/nats.go/jetstream"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// own gives the namespace a ProviderConfig with logins of its own, and returns the reference to
// it. The login for NATS is one that the platform has made for a provider.
func (c *config) own() *xpv2.ProviderConfigReference {
	c.t.Helper()
	user, err := natstest.Keyring.User(natsauth.Grant{Namespace: c.ns, Owner: "own", Role: natsauth.Provider}, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	c.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "own"}, StringData: map[string]string{
		"creds": user.Credentials, "inboxPrefix": user.InboxPrefix,
		"AWS_ACCESS_KEY_ID": s3test.AccessKey, "AWS_SECRET_ACCESS_KEY": s3test.SecretKey,
	}})
	ref := &v1alpha1.CredentialsReference{Name: "own"}
	c.create(&v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "own"}, Spec: v1alpha1.ProviderConfigSpec{
		NATS: &v1alpha1.NATSConfig{URL: c.account.server.URL(), SecretRef: ref}, S3: &v1alpha1.S3Config{Endpoint: c.buckets.s3.Endpoint, SecretRef: ref},
	}})
	return &xpv2.ProviderConfigReference{Kind: v1alpha1.KindProviderConfig, Name: "own"}
}

// share moves the tenant to a server without an operator, where all namespaces have one login.
func (c *config) share() *natstest.Server {
	c.t.Helper()
	s := natstest.Start(c.t)
	c.account.conn = s.Connect(c.t)
	login := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: c.ns + "-login"}}
	login.StringData = map[string]string{"user": natstest.User, "password": natstest.Password}
	c.install(login)
	c.configure(func(p *v1alpha1.ProviderConfigSpec) {
		p.NATS = &v1alpha1.NATSConfig{URL: s.URL(), SecretRef: &v1alpha1.CredentialsReference{Namespace: login.Namespace, Name: login.Name}}
	})
	return s
}

// TestOneLogin uses what accounts do not have: a login in the Secret of the connection, and
// streams in memory, which exist before.
func TestOneLogin(t *testing.T) {
	w := newTenant(t)
	s := w.config.share()
	owner := external.Owner{Namespace: w.ns, Common: true}.Metadata()
	js := w.account.bus().JetStream()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "WORK", Storage: jetstream.MemoryStorage, Metadata: owner}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "keys", Storage: jetstream.MemoryStorage, Metadata: owner}); err != nil {
		t.Fatal(err)
	}
	work, keys := stream(w, "WORK"), keyValue(w, "keys")
	work.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection"}
	w.create(work)
	w.create(keys)
	w.resources.ready(work)
	w.resources.ready(keys)
	for _, name := range []string{"WORK", "KV_keys"} {
		w.account.stream(name, "its limits, in memory", func(c jetstream.StreamConfig) bool {
			return c.MaxMsgSize == 1000 && c.Storage == jetstream.MemoryStorage
		})
	}
	w.secret("connection", map[string]string{"NATS_URL": s.URL(), "NATS_USER": natstest.User, "NATS_PASSWORD": natstest.Password})
}
