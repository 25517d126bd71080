package managed_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

// A safe is a namespace for Secrets.
type safe struct {
	t         *testing.T
	namespace string
	secrets   typedcorev1.SecretInterface
}

// startWithSafe returns a world with a real API server, NATS and S3.
func startWithSafe(t *testing.T, more map[string]any) (*world, *safe) {
	t.Helper()
	c := shared.Cluster(t)
	core, err := typedcorev1.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	s := &safe{t: t, namespace: c.Namespace(t)}
	s.secrets = core.Secrets(s.namespace)
	config := map[string]any{"kubernetes": map[string]any{"config_path": c.Kubeconfig(), "namespace": s.namespace}}
	for k, v := range more {
		config[k] = v
	}
	w := start(t, config)
	if err := w.bus.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w, s
}

// data returns the data of a Secret, nil if there is none.
func (s *safe) data(name string) map[string][]byte {
	s.t.Helper()
	got, err := s.secrets.Get(s.t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return got.Data
}

func (s *safe) token(name string) string { return string(s.data(name)[token.ConnectionKey]) }

// valid returns the SHA-256 of the current tokens in the registry, and the number
// of replaced tokens.
func (w *world) valid(t *testing.T) (current []string, replaced int) {
	t.Helper()
	all, err := registry.Tokens(w.bus).List(t.Context(), ">")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Value.Expires.IsZero() {
			current = append(current, r.Value.SHA256)
		} else if r.Value.Expires.After(time.Now()) {
			replaced++
		}
	}
	return current, replaced
}

// agree requires the same token in registry, Secret and state, and the secret only
// in the Secret.
func agree(t *testing.T, w *world, s *safe, r *providertest.Resource, secret string) string {
	t.Helper()
	got := s.token(secret)
	current, _ := w.valid(t)
	if got == "" || len(current) != 1 || current[0] != token.Digest(got) || r.Attribute("sha256") != token.Digest(got) {
		t.Fatalf("SHA-256 differ: Secret %s, registry %v, state %v", token.Digest(got), current, r.Attribute("sha256"))
	}
	if strings.Contains(text(providertest.JSON(r.State)), got) {
		t.Fatal("the token is in the state")
	}
	return got
}

// TestTokenIsWrittenIntoASecret creates a generated token, loses and changes its
// Secret, moves it to another Secret and destroys it.
func TestTokenIsWrittenIntoASecret(t *testing.T) {
	w, s := startWithSafe(t, nil)
	config := map[string]any{"name": "app", "models": []any{"ns/a"}, "write_secret_to": map[string]any{"name": "app-token"}}
	r := w.Resource("koldun_token")
	if p := r.Plan(config); p.Errors != "" || providertest.JSON(p.State).(map[string]any)["sha256"] != "(unknown)" {
		t.Errorf("got plan %v %s", providertest.JSON(p.State), p.Errors)
	}
	apply := func() string {
		t.Helper()
		if e := r.Apply(config); e != "" || r.Warnings != "" {
			t.Fatal(e, r.Warnings)
		}
		r.CheckStable(config)
		return agree(t, w, s, r, "app-token")
	}
	first := apply()

	config["models"] = []any{"ns/a", "ns/b"}
	if again := apply(); again != first {
		t.Error("a change of another attribute replaced the token")
	}

	if err := s.secrets.Delete(t.Context(), "app-token", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.Refresh()
	if p := r.Plan(config); p.Empty || len(p.Replace) > 0 || r.Attribute("ready") != false {
		t.Errorf("plan after the deletion of the Secret: got %v", providertest.JSON(p.State))
	}
	second := apply()
	if second == first {
		t.Error("the token of a deleted Secret is still current")
	}

	if _, err := s.secrets.Patch(t.Context(), "app-token", types.MergePatchType, []byte(`{"stringData":{"token":"token-of-another-writer"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	r.Refresh()
	third := apply()
	if third == second || third == "token-of-another-writer" {
		t.Error("the token of an overwritten Secret is still current")
	}

	config["write_secret_to"] = map[string]any{"name": "moved", "namespace": s.namespace}
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(config)
	agree(t, w, s, r, "moved")
	if s.data("app-token") != nil {
		t.Error("the previous Secret still exists")
	}

	if e := r.Destroy(); e != "" {
		t.Fatal(e)
	}
	if current, _ := w.valid(t); len(current) != 0 || s.data("moved") != nil {
		t.Errorf("after destroy: got tokens %v in the registry and %d keys in the Secret, want none", current, len(s.data("moved")))
	}
}

// TestTokenIsRotated replaces a token that has reached its maximum age, and keeps
// the previous one for the overlap.
func TestTokenIsRotated(t *testing.T) {
	w, s := startWithSafe(t, nil)
	config := map[string]any{"name": "app", "write_secret_to": map[string]any{"name": "app"}, "rotate_after": "1h", "overlap": "30m"}
	r := w.Resource("koldun_token")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(config)
	first := agree(t, w, s, r, "app")
	// Two hours pass.
	table, key := registry.Tokens(w.bus), registry.Token{SHA256: token.Digest(first)}.Key()
	have, err := table.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	have.Value.Created = have.Value.Created.Add(-2 * time.Hour)
	if _, err := table.Put(t.Context(), key, have.Value); err != nil {
		t.Fatal(err)
	}
	r.Refresh()
	if p := r.Plan(config); p.Empty || providertest.JSON(p.State).(map[string]any)["sha256"] != "(unknown)" {
		t.Errorf("plan of a due rotation: got %v", providertest.JSON(p.State))
	}
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(config)
	second := agree(t, w, s, r, "app")
	if _, replaced := w.valid(t); second == first || replaced != 1 {
		t.Errorf("got replaced %v and %d valid previous tokens, want true and 1", second != first, replaced)
	}
}

// TestSecretOfOthersIsRefused checks that a Secret of another writer is not
// overwritten.
func TestSecretOfOthersIsRefused(t *testing.T) {
	for name, adopt := range map[string]bool{"Refused": false, "Adopted": true} {
		t.Run(name, func(t *testing.T) {
			w, s := startWithSafe(t, map[string]any{"adopt_existing": adopt})
			theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}, StringData: map[string]string{"token": "a-token-of-theirs"}}
			if _, err := s.secrets.Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			r := w.Resource("koldun_token")
			e := r.Apply(map[string]any{"name": "app", "write_secret_to": map[string]any{"name": "theirs"}})
			switch {
			case adopt && (e != "" || s.token("theirs") == ""):
				t.Errorf("got error %q", e)
			case adopt:
				agree(t, w, s, r, "theirs")
			case !strings.Contains(e, "was not written by koldun_token/app") || s.token("theirs") != "a-token-of-theirs" || !r.State.IsNull():
				t.Errorf("got error %q", e)
			}
		})
	}
}

// TestConnectionIsWrittenIntoASecret writes what a workload needs to connect to a
// bucket and a stream.
func TestConnectionIsWrittenIntoASecret(t *testing.T) {
	w, s := startWithSafe(t, nil)
	for kind, c := range map[string]struct {
		config map[string]any
		key    string
		want   string
	}{
		"koldun_bucket":    {map[string]any{"bucket_name": "connected"}, "AWS_SECRET_ACCESS_KEY", s3test.SecretKey},
		"koldun_stream":    {map[string]any{"name": "connected", "subjects": []any{"connected.>"}}, "NATS_PASSWORD", natstest.Password},
		"koldun_key_value": {map[string]any{"bucket": "connected"}, "NATS_PASSWORD", natstest.Password},
	} {
		t.Run(kind, func(t *testing.T) {
			name := strings.ReplaceAll(kind, "_", "-")
			plain := map[string]any{}
			for k, v := range c.config {
				plain[k] = v
			}
			c.config["write_secret_to"] = map[string]any{"name": name}
			r := w.Resource(kind)
			if e := r.Apply(c.config); e != "" {
				t.Fatal(e)
			}
			r.CheckStable(c.config)
			if got := s.data(name); !bytes.Equal(got[c.key], []byte(c.want)) {
				t.Errorf("Secret with %d keys has another %s than the one in use", len(got), c.key)
			}
			if strings.Contains(fmt.Sprint(providertest.JSON(r.State)), c.want) {
				t.Error("the state contains the credentials")
			}
			if err := s.secrets.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			r.Refresh()
			if e := r.Apply(c.config); e != "" || s.data(name) == nil {
				t.Errorf("the deleted Secret is not written again: %q", e)
			}
			if e := r.Apply(plain); e != "" || s.data(name) != nil {
				t.Errorf("the Secret still exists after the removal of write_secret_to: %q", e)
			}
			r.CheckStable(plain)
			if e := r.Destroy(); e != "" {
				t.Error(e)
			}
		})
	}
}

func TestSecretNeedsACluster(t *testing.T) {
	w := start(t, nil)
	p := w.Resource("koldun_token").Plan(map[string]any{"name": "app", "write_secret_to": map[string]any{"name": "app"}})
	if !strings.Contains(p.Errors, "kubernetes.config_path") {
		t.Errorf("got error %q", p.Errors)
	}
}
