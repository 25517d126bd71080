package manager_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/nats-io/nats.go/jetstream"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// known waits until the registry contains a token, or does not.
func (a *account) known(secret string, want bool) {
	a.t.Helper()
	tokens := registry.Tokens(a.bus())
	a.eventually(fmt.Sprintf("token in the registry: %v", want), func() error {
		_, err := tokens.Get(a.t.Context(), names.TokenKey(token.Digest(secret)))
		if (err == nil) != want {
			return fmt.Errorf("wrong presence: %w", err)
		}
		return nil
	})
}

func (ob *objects) tokenSecret(name, value string, labels map[string]string) *corev1.Secret {
	ob.t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, StringData: map[string]string{"token": value}}
	ob.create(s)
	return s
}

func TestToken(t *testing.T) {
	w := newTenant(t)
	w.account.queue()
	const value = "a-token-that-is-long-enough"
	s := w.tokenSecret("mine", value, nil)
	m := &v1alpha1.Token{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "mine"},
		Spec:       v1alpha1.TokenSpec{ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.TokenParameters{SecretRef: &xpv2.LocalSecretReference{Name: "mine"}}},
	}
	w.create(m)
	w.resources.ready(m)
	w.account.known(value, true)
	w.delete(s)
	w.account.known(value, false)
	w.resources.failing(m, "does not exist")
	w.tokenSecret("mine", value, nil)
	w.account.known(value, true)
	w.delete(m)
	w.gone(m)
	w.account.known(value, false)

	made := &v1alpha1.Token{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "made"}, Spec: v1alpha1.TokenSpec{ManagedResourceSpec: via(w.ns)}}
	made.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "made"}
	w.create(made)
	w.resources.ready(made)
	kept := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "made"}}
	if err := w.get(kept); err != nil {
		t.Fatal(err)
	}
	w.account.known(string(kept.Data["token"]), true)
}

// TestTokensOfOtherNamespacesAreRefused checks that a resource in one namespace
// registers no token for the gateways of another. Only on one login could it.
func TestTokensOfOtherNamespacesAreRefused(t *testing.T) {
	w := newTenant(t)
	w.config.share()
	const value = "a-token-that-is-long-enough"
	w.tokenSecret("mine", value, nil)
	for _, m := range []resource.Managed{
		&v1alpha1.Token{ObjectMeta: metav1.ObjectMeta{Name: "token"}, Spec: v1alpha1.TokenSpec{
			ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.TokenParameters{Namespace: "victim", SecretRef: &xpv2.LocalSecretReference{Name: "mine"}},
		}},
		&v1alpha1.TokenSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}, Spec: v1alpha1.TokenSetSpec{
			ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.TokenSetParameters{Namespace: "victim"},
		}},
	} {
		w.create(m)
		w.resources.failing(m, "spec.forProvider.namespace")
		w.account.known(value, false)
		w.delete(m)
		w.gone(m)
	}
}

// TestTokensInOtherBucketsAreRefused checks that a bucket is refused to which the provider has
// no right to write in an account.
func TestTokensInOtherBucketsAreRefused(t *testing.T) {
	w := newTenant(t)
	if _, err := w.account.bus().JetStream().CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "others"}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []resource.Managed{
		&v1alpha1.Token{ObjectMeta: metav1.ObjectMeta{Name: "token"}, Spec: v1alpha1.TokenSpec{
			ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.TokenParameters{Bucket: "others", SHA256: token.Digest("a-token-that-is-long-enough")},
		}},
		&v1alpha1.TokenSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}, Spec: v1alpha1.TokenSetSpec{
			ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.TokenSetParameters{Bucket: "others"},
		}},
	} {
		w.create(m)
		w.resources.failing(m, `to bucket "koldun_tokens" only`)
		w.delete(m)
		w.gone(m)
	}
}

// TestModelsOfOtherNamespacesStay checks that a ModelRecord neither writes nor
// deletes the entry of another namespace. Only on one login could it.
func TestModelsOfOtherNamespacesStay(t *testing.T) {
	w := newTenant(t)
	w.config.share()
	models := registry.Models(w.account.bus())
	if err := modelrecord.New(nil, models).Create(t.Context(), modelrecord.Spec{Namespace: "victim", Name: "m", SizeBytes: 7}); err != nil {
		t.Fatal(err)
	}
	m := &v1alpha1.ModelRecord{ObjectMeta: metav1.ObjectMeta{Name: "m", Finalizers: []string{"test/hold"}}, Spec: v1alpha1.ModelRecordSpec{
		ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.ModelRecordParameters{Namespace: "victim", Name: "m", SizeBytes: 8},
	}}
	w.create(m)
	w.resources.failing(m, "spec.forProvider.namespace")
	w.delete(m)
	w.change(m, func() { m.Finalizers = nil })
	w.gone(m)
	r, err := models.Get(t.Context(), names.ModelKey("victim", "m"))
	if err != nil || r.Value.Size != 7 {
		t.Errorf("the entry of the other namespace: %+v, %v", r, err)
	}
}

// TestTokensStayWhereTheyAre checks that bucket and prefix are immutable: a change
// would leave the previous entries valid. The defaults may be set or omitted.
func TestTokensStayWhereTheyAre(t *testing.T) {
	w := newTenant(t)
	type place struct{ bucket, prefix string }
	usual := place{names.TokensBucket, names.TokenKey("")}
	for kind, at := range map[string]func(place) client.Object{
		"token": func(p place) client.Object {
			return &v1alpha1.Token{Spec: v1alpha1.TokenSpec{ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.TokenParameters{Bucket: p.bucket, Prefix: p.prefix}}}
		},
		"set": func(p place) client.Object {
			return &v1alpha1.TokenSet{Spec: v1alpha1.TokenSetSpec{ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.TokenSetParameters{Bucket: p.bucket, Prefix: p.prefix}}}
		},
	} {
		for name, c := range map[string]struct {
			before, after place
			want          string // "" if it is allowed
		}{
			"bucket":  {place{bucket: "a"}, place{bucket: "b"}, "bucket cannot be changed"},
			"set":     {place{}, place{bucket: "b"}, "bucket cannot be changed"},
			"unset":   {place{prefix: "a/"}, place{}, "prefix cannot be changed"},
			"prefix":  {place{prefix: "a/"}, place{prefix: "b/"}, "prefix cannot be changed"},
			"default": {place{}, usual, ""},
		} {
			m, after := at(c.before), at(c.after)
			m.SetName(kind + "-" + name)
			meta.AddAnnotations(m, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"}) // only the API server's validation is tested
			w.create(m)
			change, err := client.MergeFrom(at(c.before)).Data(after)
			if err != nil {
				t.Fatal(err)
			}
			err = w.client.Patch(t.Context(), m, client.RawPatch(types.MergePatchType, change))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: got error %v, want %q", m.GetName(), err, c.want)
			}
		}
	}
}

func TestTokenSet(t *testing.T) {
	w := newTenant(t)
	w.account.queue()
	const one, two = "the-first-token-of-all", "the-second-token-of-all"
	label := map[string]string{v1.LabelToken: "true"}
	first := w.tokenSecret("first", one, label)
	m := &v1alpha1.TokenSet{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "all"}, Spec: v1alpha1.TokenSetSpec{ManagedResourceSpec: via(w.ns)}}
	w.create(m)
	w.resources.ready(m)
	w.account.known(one, true)
	second := w.tokenSecret("second", two, label)
	w.account.known(two, true)
	w.delete(first)
	w.account.known(one, false)
	w.change(second, func() { second.Labels = nil })
	w.account.known(two, false)
	w.change(second, func() { second.Labels = label })
	w.account.known(two, true)
	w.delete(m)
	w.gone(m)
	w.account.known(two, false)
}

func TestNodeLabelRule(t *testing.T) {
	w := newTenant(t)
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.ns, Labels: map[string]string{"memory": "64"}}}
	if err := w.client.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.client.Delete(context.Background(), n); err != nil {
			t.Error(err)
		}
	})
	m := &v1alpha1.NodeLabelRule{
		ObjectMeta: metav1.ObjectMeta{Name: w.ns},
		Spec: v1alpha1.NodeLabelRuleSpec{ForProvider: v1alpha1.NodeLabelRuleParameters{
			MatchExpressions: []v1alpha1.NodeLabelExpression{{Key: "memory", Operator: "Gt", Values: []string{"32"}}},
			Labels:           map[string]string{"example.org/large": "true"},
		}},
	}
	if err := w.client.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	labelled := func(want string) {
		t.Helper()
		w.eventually("label "+want, func() error {
			if err := w.get(n); err != nil || n.Labels["example.org/large"] != want || n.Labels["memory"] == "" {
				return fmt.Errorf("labels %v: %w", n.Labels, err)
			}
			return nil
		})
	}
	labelled("true")
	w.change(n, func() { n.Labels["memory"] = "16" })
	labelled("")
	w.change(n, func() { n.Labels["memory"] = "128" })
	labelled("true")
	w.delete(m)
	w.gone(m)
	labelled("")
}
