package manager_test

import (
	"errors"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/nats-io/nats.go/jetstream"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/external/tokenset"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// entryText returns an entry of a key-value bucket with its revision as text.
func entryText(w *tenant, bucket, key string) (string, error) {
	kv, err := w.account.bus().JetStream().KeyValue(w.t.Context(), bucket)
	if err != nil {
		return "", err
	}
	e, err := kv.Get(w.t.Context(), key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %s", e.Revision(), e.Value()), nil
}

func modelRecordLifecycle() lifecycle {
	key := func(w *tenant, name string) string { return names.ModelKey(w.ns, name) }
	sized := func(w *tenant, name string, want int64) error {
		r, err := registry.Models(w.account.bus()).Get(w.t.Context(), key(w, name))
		if err == nil && r.Value.Size != want {
			return fmt.Errorf("got size %d, want %d", r.Value.Size, want)
		}
		return err
	}
	return lifecycle{
		server: onNATS,
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.ModelRecord{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.ModelRecordSpec{
				ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.ModelRecordParameters{Namespace: w.ns, Name: name, SizeBytes: 7, Weights: "q40"},
			}}
		},
		read:    func(w *tenant, name string) (string, error) { return entryText(w, names.ModelsBucket, key(w, name)) },
		matches: func(w *tenant, name string) error { return sized(w, name, 7) },
		update: func(_ *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.ModelRecord).Spec.ForProvider.SizeBytes = 8
		},
		updated: func(w *tenant, _ resource.ModernManaged, name string) error { return sized(w, name, 8) },
		drift: func(w *tenant, name string) {
			if err := registry.Models(w.account.bus()).Delete(w.t.Context(), key(w, name), 0); err != nil {
				w.t.Fatal(err)
			}
		},
		exist: func(w *tenant, name string) {
			s := modelrecord.Spec{Namespace: w.ns, Name: name, SizeBytes: 7, Weights: "q40"}
			if err := modelrecord.New(nil, registry.Models(w.account.bus())).Create(w.t.Context(), s); err != nil {
				w.t.Fatal(err)
			}
		},
	}
}

// secretOf returns the API token of a case.
func secretOf(name string) string { return "the-token-of-case-" + name }

// tokenIs returns an error unless the entry exists and ok accepts it.
func tokenIs(w *tenant, table *registry.Table[registry.Token], key string, ok func(registry.Token) bool) error {
	r, err := table.Get(w.t.Context(), key)
	if err == nil && !ok(r.Value) {
		return fmt.Errorf("the entry is %+v", r.Value)
	}
	return err
}

func tokenLifecycle() lifecycle {
	key := func(name string) string { return names.TokenKey(token.Digest(secretOf(name))) }
	is := func(w *tenant, name string, disabled bool) error {
		return tokenIs(w, registry.Tokens(w.account.bus()), key(name), func(t registry.Token) bool { return t.Disabled == disabled && t.Namespace == w.ns })
	}
	return lifecycle{
		server: onNATS,
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.Token{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.TokenSpec{
				ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.TokenParameters{SHA256: token.Digest(secretOf(name))},
			}}
		},
		read:    func(w *tenant, name string) (string, error) { return entryText(w, names.TokensBucket, key(name)) },
		matches: func(w *tenant, name string) error { return is(w, name, false) },
		update: func(_ *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.Token).Spec.ForProvider.Disabled = true
		},
		updated: func(w *tenant, _ resource.ModernManaged, name string) error { return is(w, name, true) },
		drift: func(w *tenant, name string) {
			table := registry.Tokens(w.account.bus())
			r, err := table.Get(w.t.Context(), key(name))
			if err != nil {
				w.t.Fatal(err)
			}
			r.Value.Disabled = true
			if _, err := table.Put(w.t.Context(), key(name), r.Value); err != nil {
				w.t.Fatal(err)
			}
		},
		exist: func(w *tenant, name string) {
			s := token.Spec{SHA256: token.Digest(secretOf(name)), Namespace: w.ns, Owner: "Token/" + w.ns + "/" + name}
			if err := token.New(w.account.bus()).Create(w.t.Context(), s); err != nil {
				w.t.Fatal(err)
			}
		},
	}
}

// Each case has its own prefix and Secret, because all TokenSets of a namespace
// mirror all its labelled Secrets. The update changes the Secret, because no field
// of a TokenSet changes its entries.
func tokenSetLifecycle() lifecycle {
	prefix := func(name string) string { return name + "/" }
	secret := func(name string) string { return "labelled-" + name }
	key := func(name string) string { return prefix(name) + token.Digest(secretOf(name)) }
	is := func(w *tenant, name string, disabled bool) error {
		return tokenIs(w, registry.TokensIn(w.account.bus(), "", prefix(name)), key(name), func(t registry.Token) bool {
			return t.Namespace == w.ns && t.Disabled == disabled
		})
	}
	labelled := func(w *tenant, name string) {
		w.t.Helper()
		s := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: secret(name), Labels: map[string]string{v1.LabelToken: "true"}},
			StringData: map[string]string{"token": secretOf(name)},
		}
		if err := w.client.Create(w.t.Context(), s); client.IgnoreAlreadyExists(err) != nil {
			w.t.Fatal(err)
		}
	}
	return lifecycle{
		server: onNATS,
		given:  labelled,
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.TokenSet{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.TokenSetSpec{
				ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.TokenSetParameters{Prefix: prefix(name)},
			}}
		},
		read:    func(w *tenant, name string) (string, error) { return entryText(w, names.TokensBucket, key(name)) },
		matches: func(w *tenant, name string) error { return is(w, name, false) },
		update: func(w *tenant, m resource.ModernManaged) {
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: secret(m.GetName())}}
			w.change(s, func() { meta.AddAnnotations(s, map[string]string{token.AnnotationDisabled: "true"}) })
		},
		updated: func(w *tenant, _ resource.ModernManaged, name string) error { return is(w, name, true) },
		drift: func(w *tenant, name string) {
			if err := registry.TokensIn(w.account.bus(), "", prefix(name)).Delete(w.t.Context(), key(name), 0); err != nil {
				w.t.Fatal(err)
			}
		},
		exist: func(w *tenant, name string) {
			labelled(w, name)
			s := tokenset.Spec{Namespace: w.ns, Prefix: prefix(name), Owner: "TokenSet/" + w.ns + "/" + name, Secrets: []token.Secret{
				{Name: secret(name), Data: map[string][]byte{"token": []byte(secretOf(name))}},
			}}
			if err := tokenset.New(w.account.bus()).Create(w.t.Context(), s); err != nil {
				w.t.Fatal(err)
			}
		},
	}
}
