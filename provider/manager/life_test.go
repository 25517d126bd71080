package manager_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	"github.com/gorizond/koldun/provider/adapter"
)

// A life is what one kind needs to be led through all that can happen to it.
// Each case gives its outside thing a name of its own; the world is the kind's.
type life struct {
	server server
	// prepare makes what things of the kind stand on. May be nil.
	prepare func(w *world)
	// resource that brings about a thing of that name.
	resource func(w *world, name string) resource.ModernManaged
	// given makes what has to be there before a resource is ready. May be nil.
	given func(w *world, name string)
	// outside is everything that is to be known of the thing; empty if there is
	// none. It is read again and again.
	outside func(w *world, name string) (string, error)
	// right is nil if the thing is as resource has it.
	right func(w *world, name string) error
	// update changes the spec, and updated is nil once the thing has followed.
	update  func(w *world, m resource.ModernManaged)
	updated func(w *world, m resource.ModernManaged, name string) error
	// drift is what somebody else does to the thing.
	drift func(w *world, name string)
	// polled says that nobody tells the provider of a drift.
	polled bool
	// exist makes a thing that is as resource has it in all that resource speaks
	// of, and unusual in everything else.
	exist func(w *world, name string)
	// leaves says that a deletion leaves the thing as it is.
	leaves bool
	// denied waits for what a wrong secret leads to. Nil: Synced is false.
	denied func(w *world, m resource.ModernManaged) string
	// without are the cases that make no sense for the kind, and why.
	without map[string]string
}

// A server is what a kind depends on.
type server string

const (
	onNATS    server = "nats"
	onS3      server = "s3"
	onHub     server = "hub"
	onCluster server = "cluster"
)

// lives are those of all kinds.
func lives() map[string]life {
	return map[string]life{
		v1alpha1.KindBucket:        bucketLife(),
		v1alpha1.KindConsumer:      consumerLife(),
		v1alpha1.KindDemand:        demandLife(),
		v1alpha1.KindHubRevision:   hubRevisionLife(),
		v1alpha1.KindKeyValue:      keyValueLife(),
		v1alpha1.KindModelArtifact: modelArtifactLife(),
		v1alpha1.KindModelRecord:   modelRecordLife(),
		v1alpha1.KindNodeLabelRule: nodeLabelRuleLife(),
		v1alpha1.KindPool:          poolLife(),
		v1alpha1.KindQueue:         queueLife(),
		v1alpha1.KindStream:        streamLife(),
		v1alpha1.KindToken:         tokenLife(),
		v1alpha1.KindTokenSet:      tokenSetLife(),
	}
}

// cases are what can happen to a managed resource.
var cases = map[string]func(w *world, l life, name string){
	"create":      creates,
	"update":      updates,
	"drift":       drifts,
	"import":      imports,
	"observe":     observes,
	"delete":      deletes,
	"outage":      outlives,
	"credentials": refuses,
}

func TestLifeOfEachKind(t *testing.T) {
	all := lives()
	for _, k := range adapter.Kinds() {
		name := k.Kind
		l, ok := all[name]
		if !ok {
			t.Errorf("kind %s has no life: its cases are not tested", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for c, why := range l.without {
				if cases[c] == nil || len(why) < 10 {
					t.Errorf("case %q is left out because %q", c, why)
				}
			}
			w := newLife(t, l)
			for _, c := range []string{"create", "update", "drift", "import", "observe", "delete", "credentials", "outage"} {
				if l.without[c] != "" {
					continue
				}
				t.Run(c, func(t *testing.T) { cases[c](w.in(t), l, c) })
			}
		})
	}
}

func creates(w *world, l life, name string) {
	l.begin(w, name)
	w.same("the thing", func() error { return l.right(w, name) })
}

func updates(w *world, l life, name string) {
	m := l.begin(w, name)
	w.change(m, func() { l.update(w, m) })
	w.ready(m)
	w.eventually("the update", func() error {
		if err := w.get(m); err != nil {
			return err
		}
		return l.updated(w, m, name)
	})
}

func drifts(w *world, l life, name string) {
	m := l.begin(w, name)
	l.drift(w, name)
	if l.polled {
		w.poke(m) // polls are an hour apart
	}
	w.eventually("the repair", func() error { return l.right(w, name) })
	w.ready(m)
}

// What exists is taken over as it is, byte for byte, and kept if it must not be deleted.
func imports(w *world, l life, name string) {
	l.exist(w, name)
	before := l.see(w, name)
	m := l.resource(w, name)
	m.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize})
	w.make(m)
	w.ready(m)
	w.untouched(l, name, before, "it was taken over")
	w.poke(m)
	w.handled(m)
	w.untouched(l, name, before, "it was looked at again")
	w.delete(m)
	w.gone(m)
	w.untouched(l, name, before, "the resource was deleted")
}

func observes(w *world, l life, name string) {
	if l.exist != nil {
		l.exist(w, name)
	} else {
		l.given(w, name)
	}
	before := l.see(w, name)
	m := l.resource(w, name)
	m.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
	l.update(w, m) // so that there would be something to do
	w.make(m)
	spec := specOf(m)
	w.looked(m)
	w.untouched(l, name, before, "it was observed")
	if diff := cmp.Diff(spec, specOf(m)); diff != "" {
		w.t.Errorf("the spec has changed (-before +after):\n%s", diff)
	}
	w.delete(m)
	w.gone(m)
	w.untouched(l, name, before, "the resource was deleted")
}

func deletes(w *world, l life, name string) {
	m := l.begin(w, name)
	before := l.see(w, name)
	w.delete(m)
	w.gone(m)
	w.left(l, name, before)
}

func outlives(w *world, l life, name string) {
	m := l.begin(w, name)
	before := l.see(w, name)
	w.stop(l.server)
	w.poke(m)
	said := w.failing(m, w.endpoint(l.server))
	w.keepsSecret(m, said)
	w.resume(l.server)
	if l.server != onNATS {
		w.poke(m) // only NATS tells when it is back; others are tried within a minute
	}
	w.ready(m)
	w.untouched(l, name, before, "the outage")
}

// wrong is in all secrets that nobody accepts.
const wrong = "not-this-one"

// wrongly is a ProviderConfig with credentials that nobody accepts.
const wrongly = "wrongly"

func refuses(w *world, l life, name string) {
	good := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: credentials}}
	same := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: config}}
	for _, err := range []error{w.get(good), w.get(same)} {
		if err != nil {
			w.t.Fatal(err)
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: wrongly}, Data: map[string][]byte{}}
	for key, value := range good.Data {
		secret.Data[key] = value
	}
	for _, key := range []string{"password", "AWS_SECRET_ACCESS_KEY", "token"} {
		secret.Data[key] = []byte(wrong)
	}
	ref := &v1alpha1.CredentialsReference{Name: wrongly}
	spec := *same.Spec.DeepCopy()
	spec.NATS.SecretRef, spec.S3.SecretRef, spec.Hub.SecretRef = ref, ref, ref
	w.create(secret)
	w.create(&v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: wrongly}, Spec: spec})
	if l.given != nil {
		l.given(w, name)
	}
	m := l.resource(w, name)
	m.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: v1alpha1.KindProviderConfig, Name: wrongly})
	w.make(m)
	var said string
	if l.denied != nil {
		said = l.denied(w, m)
	} else {
		said = w.failing(m, w.endpoint(l.server))
	}
	w.keepsSecret(m, said)
	// Nobody restarts anything, and nobody touches the resource.
	w.change(secret, func() { secret.Data = good.Data })
	w.ready(m)
	w.same("the thing", func() error { return l.right(w, name) })
	w.delete(m)
	w.gone(m)
}

// begin makes a resource that is ready.
func (l life) begin(w *world, name string) resource.ModernManaged {
	w.t.Helper()
	if l.given != nil {
		l.given(w, name)
	}
	m := l.resource(w, name)
	w.make(m)
	w.ready(m)
	return m
}

// see the thing as it is.
func (l life) see(w *world, name string) (out string) {
	w.t.Helper()
	w.eventually("a look at the thing", func() (err error) {
		out, err = l.outside(w, name)
		return err
	})
	return out
}

// left checks what a deletion has left.
func (w *world) left(l life, name, before string) {
	w.t.Helper()
	want := ""
	if l.leaves {
		want = before
	}
	if now := l.see(w, name); now != want {
		w.t.Errorf("after its resource was deleted, the thing is %q, want %q", now, want)
	}
}

// keepsSecret checks that nothing that can be read of a resource tells a secret.
func (w *world) keepsSecret(m resource.ModernManaged, said string) {
	w.t.Helper()
	var events corev1.EventList
	if err := w.client.List(w.t.Context(), &events); err != nil {
		w.t.Fatal(err)
	}
	texts := []string{said, fmt.Sprintf("%+v", m)}
	for _, e := range events.Items {
		if e.InvolvedObject.UID == m.GetUID() {
			texts = append(texts, e.Message)
		}
	}
	for _, text := range texts {
		for _, secret := range []string{wrong, natstest.Password, s3test.SecretKey, hubToken} {
			if strings.Contains(text, secret) {
				w.t.Errorf("the secret %q is told: %s", secret, text)
			}
		}
	}
	if said != "" && !strings.Contains(said, "\"") {
		w.t.Errorf("nothing is named in: %s", said)
	}
}

func (w *world) untouched(l life, name, before, after string) {
	w.t.Helper()
	if now := l.see(w, name); now != before {
		w.t.Errorf("after %s it has changed\nfrom %s\nto   %s", after, before, now)
	}
}

// same checks at once: what is ready is as it should be.
func (w *world) same(what string, ok func() error) {
	w.t.Helper()
	if err := ok(); err != nil {
		w.t.Errorf("%s: %v", what, err)
	}
}

// make creates a resource, in the world's namespace if it has one.
func (w *world) make(m resource.ModernManaged) {
	w.t.Helper()
	if _, ok := m.(*v1alpha1.NodeLabelRule); ok {
		if err := w.client.Create(w.t.Context(), m); err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = w.client.Delete(context.Background(), m) })
		return
	}
	w.create(m)
}

// handled waits until a poke was.
func (w *world) handled(m resource.ModernManaged) {
	w.t.Helper()
	w.eventually("the poke to be handled", func() error {
		if err := w.get(m); err != nil {
			return err
		}
		asked := m.GetAnnotations()[meta.AnnotationKeyReconcileRequestedAt]
		if done := handledAt(m); done != asked {
			return fmt.Errorf("%q is handled, want %q", done, asked)
		}
		return nil
	})
}

// A namespace with all kinds, their connection and its Secret in it ends, and
// leaves nothing outside but what is only observed.
func TestNamespaceOfAllKindsEnds(t *testing.T) {
	w := newWorld(t)
	w.connect()
	all := lives()
	made := map[string]string{}
	for kind, l := range all {
		if l.server == onCluster {
			continue // in no namespace
		}
		if l.prepare != nil {
			l.prepare(w)
		}
		l.begin(w, strings.ToLower(kind))
	}
	for kind, l := range all {
		if l.server != onCluster {
			made[kind] = l.see(w, strings.ToLower(kind))
		}
	}
	w.endNamespace()
	for kind, before := range made {
		w.left(all[kind], strings.ToLower(kind), before)
	}
}
