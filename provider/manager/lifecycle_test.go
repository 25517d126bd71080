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
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/provider/adapter"
)

// A lifecycle describes one kind to the cases of TestLifecycleOfEachKind. Each
// case names its own external resource; all cases of a kind share a tenant.
type lifecycle struct {
	server server
	// prepare creates what external resources of the kind require. May be nil.
	prepare func(w *tenant)
	// resource returns the managed resource of the external resource.
	resource func(w *tenant, name string) resource.ModernManaged
	// given creates what a resource needs to become ready. May be nil.
	given func(w *tenant, name string)
	// read returns the complete state of the external resource, or "" if it does
	// not exist. An error is retried.
	read func(w *tenant, name string) (string, error)
	// matches returns an error unless the external resource matches resource.
	matches func(w *tenant, name string) error
	// update changes the spec, and updated returns an error until the external
	// resource has the change.
	update  func(w *tenant, m resource.ModernManaged)
	updated func(w *tenant, m resource.ModernManaged, name string) error
	// drift changes the external resource as another client would.
	drift func(w *tenant, name string)
	// polled reports that the provider has no watch that shows a drift.
	polled bool
	// clusterScoped reports that the managed resource has no namespace.
	clusterScoped bool
	// exist creates an external resource that matches resource and has unusual
	// values in all fields that resource does not set.
	exist func(w *tenant, name string)
	// orphans reports that a deletion leaves the external resource unchanged.
	orphans bool
	// denied waits for the effect of a wrong secret and returns its message. Nil:
	// the condition Synced is false.
	denied func(w *tenant, m resource.ModernManaged) string
	// skip maps the cases that do not apply to the kind to the reason.
	skip map[string]string
}

// endsWithNamespace reports whether the deletion of a namespace deletes the resource.
func (l lifecycle) endsWithNamespace() bool { return l.server != onCluster && !l.clusterScoped }

// A server is the system that a kind depends on.
type server string

const (
	onNATS    server = "nats"
	onS3      server = "s3"
	onHub     server = "hub"
	onCluster server = "cluster"
)

// lifecycles returns the lifecycle of each kind.
func lifecycles() map[string]lifecycle {
	return map[string]lifecycle{
		v1alpha1.KindBucket:         bucketLifecycle(),
		v1alpha1.KindConsumer:       consumerLifecycle(),
		v1alpha1.KindDemand:         demandLifecycle(),
		v1alpha1.KindHubRevision:    hubRevisionLifecycle(),
		v1alpha1.KindKeyValue:       keyValueLifecycle(),
		v1alpha1.KindModelArtifact:  modelArtifactLifecycle(),
		v1alpha1.KindModelRecord:    modelRecordLifecycle(),
		v1alpha1.KindNATSAccount:    natsAccountLifecycle(),
		v1alpha1.KindNATSUser:       natsUserLifecycle(),
		v1alpha1.KindNodeLabelRule:  nodeLabelRuleLifecycle(),
		v1alpha1.KindPart:           partLifecycle(),
		v1alpha1.KindPool:           poolLifecycle(),
		v1alpha1.KindQueue:          queueLifecycle(),
		v1alpha1.KindStream:         streamLifecycle(),
		v1alpha1.KindToken:          tokenLifecycle(),
		v1alpha1.KindTokenSet:       tokenSetLifecycle(),
		v1alpha1.KindWorkloadStatus: workloadStatusLifecycle(),
	}
}

// cases maps the name of each case to its test.
var cases = map[string]func(w *tenant, l lifecycle, name string){
	"create":      testCreate,
	"update":      testUpdate,
	"drift":       testDrift,
	"import":      testImport,
	"observe":     testObserve,
	"delete":      testDelete,
	"outage":      testOutage,
	"credentials": testCredentials,
}

func TestLifecycleOfEachKind(t *testing.T) {
	all := lifecycles()
	for _, k := range adapter.Kinds() {
		name := k.Kind
		l, ok := all[name]
		if !ok {
			t.Errorf("kind %s has no lifecycle: its cases are not tested", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for c, why := range l.skip {
				if cases[c] == nil || len(why) < 10 {
					t.Errorf("skipped case %q: got reason %q, want a known case and a longer reason", c, why)
				}
			}
			w := newLifecycleTenant(t, l)
			for _, c := range []string{"create", "update", "drift", "import", "observe", "delete", "credentials", "outage"} {
				if l.skip[c] != "" {
					continue
				}
				t.Run(c, func(t *testing.T) { cases[c](w.in(t), l, c) })
			}
		})
	}
}

func testCreate(w *tenant, l lifecycle, name string) {
	l.createReady(w, name)
	w.check("the external resource", func() error { return l.matches(w, name) })
}

func testUpdate(w *tenant, l lifecycle, name string) {
	m := l.createReady(w, name)
	w.change(m, func() { l.update(w, m) })
	w.resources.ready(m)
	w.eventually("the update", func() error {
		if err := w.get(m); err != nil {
			return err
		}
		return l.updated(w, m, name)
	})
}

func testDrift(w *tenant, l lifecycle, name string) {
	m := l.createReady(w, name)
	l.drift(w, name)
	if l.polled {
		w.resources.poke(m) // polls are an hour apart
	}
	w.eventually("the repair", func() error { return l.matches(w, name) })
	w.resources.ready(m)
}

// testImport adopts an existing external resource without any change to it, and
// deletes the managed resource without the permission to delete the external one.
func testImport(w *tenant, l lifecycle, name string) {
	l.exist(w, name)
	before := l.state(w, name)
	m := l.resource(w, name)
	m.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize})
	w.add(m)
	w.resources.ready(m)
	w.unchanged(l, name, before, "its adoption")
	w.resources.poke(m)
	w.resources.handled(m)
	w.unchanged(l, name, before, "another observation")
	w.delete(m)
	w.gone(m)
	w.unchanged(l, name, before, "the deletion of its managed resource")
}

func testObserve(w *tenant, l lifecycle, name string) {
	if l.exist != nil {
		l.exist(w, name)
	} else {
		l.given(w, name)
	}
	before := l.state(w, name)
	m := l.resource(w, name)
	m.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
	l.update(w, m) // otherwise there is nothing that an update would write
	w.add(m)
	spec := specOf(m)
	w.resources.observed(m)
	w.unchanged(l, name, before, "its observation")
	if diff := cmp.Diff(spec, specOf(m)); diff != "" {
		w.t.Errorf("the spec changed (-before +after):\n%s", diff)
	}
	w.delete(m)
	w.gone(m)
	w.unchanged(l, name, before, "the deletion of its managed resource")
}

func testDelete(w *tenant, l lifecycle, name string) {
	m := l.createReady(w, name)
	before := l.state(w, name)
	w.delete(m)
	w.gone(m)
	w.left(l, name, before)
}

func testOutage(w *tenant, l lifecycle, name string) {
	m := l.createReady(w, name)
	before := l.state(w, name)
	w.servers.stop(l.server)
	w.resources.poke(m)
	message := w.resources.failing(m, w.servers.endpoint(l.server))
	w.leaksNoSecret(m, message)
	w.servers.resume(l.server)
	if l.server != onNATS {
		w.resources.poke(m) // only NATS reports that it is back; the others are retried within a minute
	}
	w.resources.ready(m)
	w.unchanged(l, name, before, "the outage")
}

// wrong is the value of secrets that every server refuses.
const wrong = "not-this-one"

// testCredentials uses a ClusterProviderConfig with credentials that every server refuses. A
// stranger has signed those for NATS.
func testCredentials(w *tenant, l lifecycle, name string) {
	good := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: w.ns}}
	same := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}
	for _, err := range []error{w.get(good), w.get(same)} {
		if err != nil {
			w.t.Fatal(err)
		}
	}
	stranger, err := natsauth.NewAuthority("stranger")
	if err != nil {
		w.t.Fatal(err)
	}
	operator := w.account.server.Authority()
	operator.SystemUsers = stranger.SystemUsers
	data, err := operator.Secret(natstest.Keyring)
	if err != nil {
		w.t.Fatal(err)
	}
	data["AWS_ACCESS_KEY_ID"], data["AWS_SECRET_ACCESS_KEY"], data["token"] = good.Data["AWS_ACCESS_KEY_ID"], []byte(wrong), []byte(wrong)
	at := metav1.ObjectMeta{Namespace: platformNamespace, Name: w.ns + "-wrong"}
	secret := &corev1.Secret{ObjectMeta: at, Data: data}
	ref := &v1alpha1.CredentialsReference{Namespace: at.Namespace, Name: at.Name}
	spec := *same.Spec.DeepCopy()
	spec.NATS.Operator.SecretRef, spec.S3.SecretRef, spec.Hub.SecretRef = *ref, ref, ref
	w.install(secret, &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: at.Name}, Spec: spec})
	if l.given != nil {
		l.given(w, name)
	}
	m := l.resource(w, name)
	m.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: v1alpha1.KindClusterProviderConfig, Name: at.Name})
	w.add(m)
	var message string
	if l.denied != nil {
		message = l.denied(w, m)
	} else {
		message = w.resources.failing(m, w.servers.endpoint(l.server))
	}
	w.leaksNoSecret(m, message)
	// The corrected Secret alone makes the resource ready, without a restart.
	w.change(secret, func() { secret.Data = good.Data })
	w.resources.ready(m)
	w.check("the external resource", func() error { return l.matches(w, name) })
	w.delete(m)
	w.gone(m)
}

// createReady creates a managed resource and waits until it is ready.
func (l lifecycle) createReady(w *tenant, name string) resource.ModernManaged {
	w.t.Helper()
	if l.given != nil {
		l.given(w, name)
	}
	m := l.resource(w, name)
	w.add(m)
	w.resources.ready(m)
	return m
}

// state returns the state of the external resource.
func (l lifecycle) state(w *tenant, name string) (out string) {
	w.t.Helper()
	w.eventually("the state of the external resource", func() (err error) {
		out, err = l.read(w, name)
		return err
	})
	return out
}

// left checks the state of the external resource after a deletion.
func (w *tenant) left(l lifecycle, name, before string) {
	w.t.Helper()
	want := ""
	if l.orphans {
		want = before
	}
	if now := l.state(w, name); now != want {
		w.t.Errorf("after the deletion of the managed resource, the external resource is %q, want %q", now, want)
	}
}

// leaksNoSecret checks that neither the message nor the object nor its events
// contain a secret, and that the message quotes the name of something.
func (w *tenant) leaksNoSecret(m resource.ModernManaged, message string) {
	w.t.Helper()
	var events corev1.EventList
	if err := w.client.List(w.t.Context(), &events); err != nil {
		w.t.Fatal(err)
	}
	texts := []string{message, fmt.Sprintf("%+v", m)}
	for _, e := range events.Items {
		if e.InvolvedObject.UID == m.GetUID() {
			texts = append(texts, e.Message)
		}
	}
	for _, text := range texts {
		for _, secret := range []string{wrong, string(w.account.server.Authority().Signing), string(natstest.Keyring), s3test.SecretKey, hubToken} {
			if strings.Contains(text, secret) {
				w.t.Errorf("secret %q leaks in: %s", secret, text)
			}
		}
	}
	if message != "" && !strings.Contains(message, "\"") {
		w.t.Errorf("message quotes no name: %s", message)
	}
}

func (w *tenant) unchanged(l lifecycle, name, before, after string) {
	w.t.Helper()
	if now := l.state(w, name); now != before {
		w.t.Errorf("state after %s:\n got %s\nwant %s", after, now, before)
	}
}

// check fails unless ok succeeds at once: a ready resource needs no wait.
func (w *tenant) check(what string, ok func() error) {
	w.t.Helper()
	if err := ok(); err != nil {
		w.t.Errorf("%s: %v", what, err)
	}
}

// add creates a managed resource, in the namespace if it is namespaced.
func (ob *objects) add(m resource.ModernManaged) {
	ob.t.Helper()
	if _, ok := m.(*v1alpha1.NodeLabelRule); ok {
		if err := ob.client.Create(ob.t.Context(), m); err != nil {
			ob.t.Fatal(err)
		}
		ob.t.Cleanup(func() { _ = ob.client.Delete(context.Background(), m) })
		return
	}
	ob.create(m)
}

// handled waits until the provider has handled the last poke.
func (r *resources) handled(m resource.ModernManaged) {
	r.t.Helper()
	r.eventually("the handled poke", func() error {
		if err := r.get(m); err != nil {
			return err
		}
		asked := m.GetAnnotations()[meta.AnnotationKeyReconcileRequestedAt]
		if done := handledAt(m); done != asked {
			return fmt.Errorf("handled poke %q, want %q", done, asked)
		}
		return nil
	})
}

// The deletion of a namespace with all kinds deletes every external resource except those
// that are only observed.
func TestNamespaceOfAllKindsEnds(t *testing.T) {
	w := newTenant(t)
	w.servers.connect()
	all := lifecycles()
	made := map[string]string{}
	for kind, l := range all {
		if !l.endsWithNamespace() {
			continue
		}
		if l.prepare != nil {
			l.prepare(w)
		}
		l.createReady(w, strings.ToLower(kind))
	}
	for kind, l := range all {
		if l.endsWithNamespace() {
			made[kind] = l.state(w, strings.ToLower(kind))
		}
	}
	w.endNamespace()
	for kind, before := range made {
		w.left(all[kind], strings.ToLower(kind), before)
	}
}
