package connpool_test

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
)

// A login is the data of a Secret with credentials.
type login = map[string]string

// TestLogInToNATS checks that each way to log in works, that a changed Secret opens
// a new connection, and that the error of a refusal contains no secret.
func TestLogInToNATS(t *testing.T) {
	password := func(user, password string) *server.User { return &server.User{Username: user, Password: password} }
	cases := map[string]func(t *testing.T) (o server.Options, scheme string, good []login, bad login){
		"Password": func(*testing.T) (server.Options, string, []login, login) {
			o := server.Options{Users: []*server.User{password("a", "first-SECRET"), password("b", "second-SECRET")}}
			good := []login{{"user": "a", "password": "first-SECRET"}, {"NATS_USER": "b", "NATS_PASSWORD": "second-SECRET\n"}}
			return o, "nats", good, login{"user": "a", "password": "wrong-SECRET"}
		},
		"Token": func(*testing.T) (server.Options, string, []login, login) {
			return server.Options{Authorization: "token-SECRET"}, "nats", []login{{"token": "token-SECRET"}}, login{"token": "wrong-SECRET"}
		},
		"NKey": func(t *testing.T) (server.Options, string, []login, login) {
			a, b := newKey(t, nkeys.CreateUser), newKey(t, nkeys.CreateUser)
			o := server.Options{Nkeys: []*server.NkeyUser{{Nkey: a.public}, {Nkey: b.public}}}
			return o, "nats", []login{{"nkey": a.seed}, {"NATS_NKEY_SEED": b.seed}}, login{"nkey": newKey(t, nkeys.CreateUser).seed}
		},
		"Creds": func(t *testing.T) (server.Options, string, []login, login) {
			d, other := newDomain(t), newDomain(t)
			file := func(d domain) string {
				text, user := d.user(t)
				return creds(t, text, user)
			}
			text, user := d.user(t)
			good := []login{{"user.creds": file(d)}, {"NATS_CREDS": file(d)}, {"jwt": text, "nkey": user.seed}}
			return d.options, "nats", good, login{"creds": file(other)}
		},
		"Certificates": func(t *testing.T) (server.Options, string, []login, login) {
			a, other := newAuthority(t), newAuthority(t)
			with := func(of authority) login {
				cert, private := of.pair(t)
				return login{"ca.crt": a.pem, "tls.crt": cert, "tls.key": private}
			}
			return a.both(t), "tls", []login{with(a), with(a)}, with(other)
		},
		"Authority": func(t *testing.T) (server.Options, string, []login, login) {
			a, other := newAuthority(t), newAuthority(t)
			o := a.both(t)
			o.TLSVerify, o.TLSConfig.ClientAuth, o.Authorization = false, 0, "token-SECRET"
			return o, "tls", []login{{"ca.crt": a.pem, "token": "token-SECRET"}}, login{"ca.crt": other.pem, "token": "token-SECRET"}
		},
	}
	cases["InboxPrefix"] = func(t *testing.T) (server.Options, string, []login, login) {
		var o server.Options
		var good []login
		for _, user := range []string{"a", "b"} {
			only := &server.SubjectPermission{Allow: []string{"_INBOX_" + user + ".>", "$JS.EVENT.>"}}
			may := &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{">"}}, Subscribe: only}
			o.Users = append(o.Users, &server.User{Username: user, Password: "first-SECRET", Permissions: may})
			good = append(good, login{"user": user, "password": "first-SECRET", "inboxPrefix": "_INBOX_" + user})
		}
		return o, "nats", good, login{"user": "a", "password": "wrong-SECRET"}
	}
	for name, create := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, scheme, good, bad := create(t)
			s := newScene(t, scheme+"://"+serve(t, o))
			refused(t, s, bad)
			var before any
			for i, l := range good {
				s.change(t, l)
				set := s.set()
				b, env, err := set.NATS(t.Context())
				if err != nil {
					t.Fatalf("login %d: %v", i, err)
				}
				if err := b.Flush(); err != nil {
					t.Errorf("login %d: %v", i, err)
				}
				if string(env["NATS_URL"]) != s.url {
					t.Errorf("NATS_URL: got %q, want %q", env["NATS_URL"], s.url)
				}
				if name := b.Conn().Opts.Name; name != "koldun test" {
					t.Errorf("the connection has the name %q", name)
				}
				if set.Identity() == before {
					t.Errorf("login %d reuses the connection of the previous login", i)
				}
				before = set.Identity()
				if n, _, _ := s.pool.Open(); n != 1 {
					t.Errorf("got %d open connections, want 1", n)
				}
			}
			refused(t, s, bad)
		})
	}
}

// TestRefusedByNATS checks that a refusal is an error at once, which names the
// Secret and the ProviderConfig to correct.
func TestRefusedByNATS(t *testing.T) {
	s := newScene(t, "nats://"+serve(t, server.Options{Users: []*server.User{{Username: "a", Password: "right"}}}))
	s.change(t, login{"user": "a", "password": "wrong"})
	_, _, err := s.set().NATS(t.Context())
	want := `the server refuses user "a" with its password: nats: Authorization Violation; the credentials are in Secret "login", which ProviderConfig`
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), want) {
		t.Errorf("NATS: got %v of kind %s, want Denied and %q", err, fault.KindOf(err), want)
	}
}

// refused checks that a login fails, and that the error names the server and no
// part of the secret.
func refused(t *testing.T, s *scene, bad login) {
	t.Helper()
	s.change(t, bad)
	_, _, err := s.set().NATS(t.Context())
	if err == nil {
		t.Fatal("the wrong login is accepted")
	}
	if !strings.Contains(err.Error(), s.url) {
		t.Errorf("error without the server's URL: %v", err)
	}
	for _, value := range bad {
		for _, line := range strings.Split(value, "\n") {
			if len(line) > 8 && !strings.HasPrefix(line, "---") && strings.Contains(err.Error(), line) {
				t.Errorf("error contains %q of the secret: %v", line, err)
			}
		}
	}
}

// A scene is a managed resource with a ProviderConfig and a Secret.
type scene struct {
	url     string
	api     client.Client
	pool    *connpool.Pool
	tracker *requeue.Tracker
	owner   requeue.Key
}

func newScene(t *testing.T, url string) *scene {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	ref := &v1alpha1.CredentialsReference{Name: "login"}
	api := fake.NewClientBuilder().WithScheme(known).WithObjects(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "login"}},
		&v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "servers"}, Spec: v1alpha1.ProviderConfigSpec{
			NATS: &v1alpha1.NATSConfig{URL: url, SecretRef: ref}, S3: &v1alpha1.S3Config{Endpoint: "http://127.0.0.1:1", SecretRef: ref},
		}},
	).Build()
	s := &scene{url: url, api: api, tracker: requeue.NewTracker(), owner: requeue.Key{Kind: "Stream", NamespacedName: types.NamespacedName{Namespace: "ns", Name: "work"}}}
	s.pool = connpool.NewPool(connpool.Program{Name: "koldun test"}, api, connpool.NewSecrets(api, api), s.tracker, connpool.Cluster{})
	t.Cleanup(s.pool.Close)
	return s
}

// set returns the connections of the resource for one reconcile.
func (s *scene) set() *connpool.Set {
	return s.pool.For(s.owner, &xpv2.ProviderConfigReference{Kind: v1alpha1.KindProviderConfig, Name: "servers"})
}

// change replaces the data of the Secret.
func (s *scene) change(t *testing.T, l login) {
	t.Helper()
	var secret corev1.Secret
	if err := s.api.Get(t.Context(), types.NamespacedName{Namespace: "ns", Name: "login"}, &secret); err != nil {
		t.Fatal(err)
	}
	secret.Data = map[string][]byte{}
	for key, value := range l {
		secret.Data[key] = []byte(value)
	}
	if err := s.api.Update(t.Context(), &secret); err != nil {
		t.Fatal(err)
	}
}
