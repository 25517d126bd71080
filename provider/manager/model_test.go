package manager_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// artifact writes a complete model to a bucket of the tenant.
func (b *buckets) artifact() objectstore.Store {
	b.t.Helper()
	c := b.store()
	if _, err := c.CreateBucket(b.t.Context(), &s3.CreateBucketInput{Bucket: aws.String("models")}); err != nil {
		b.t.Fatal(err)
	}
	store, err := s3store.New(c, "models", "tiny")
	if err != nil {
		b.t.Fatal(err)
	}
	return store
}

func (b *buckets) save(store objectstore.Store, content string) {
	b.t.Helper()
	name := names.ModelFile("tiny", "q40")
	if err := store.Put(b.t.Context(), name, []byte(content)); err != nil {
		b.t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("weights"))
	m := manifest.Manifest{Kind: manifest.Converted, Name: "tiny", Weights: "q40", Files: []manifest.File{{Path: name, Size: 7, SHA256: hex.EncodeToString(sum[:])}}}
	if err := manifest.Save(b.t.Context(), store, m); err != nil {
		b.t.Fatal(err)
	}
}

func TestModelArtifact(t *testing.T) {
	w := newTenant(t)
	store, b := w.buckets.artifact(), w.account.queue()
	m := &v1alpha1.ModelArtifact{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "tiny"},
		Spec: v1alpha1.ModelArtifactSpec{ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.ModelArtifactParameters{
			URL: "s3://models/tiny", ProgressKey: "fetch.tiny",
		}},
	}
	m.Spec.ProviderConfigReference = w.config.own() // files in the platform's object store would stay
	w.create(m)
	shows := func(what string, ok func(v1alpha1.ModelArtifactObservation) bool) {
		t.Helper()
		w.eventually(what, func() error {
			if err := w.get(m); err != nil {
				return err
			}
			if !ok(m.Status.AtProvider) {
				return fmt.Errorf("%+v, %+v", m.Status.AtProvider, m.Status.Conditions)
			}
			return nil
		})
	}
	unready := func() {
		t.Helper()
		w.eventually("an artifact that is not ready", func() error {
			if err := w.get(m); err != nil || m.GetCondition(xpv2.TypeReady).Status != corev1.ConditionFalse {
				return fmt.Errorf("conditions %+v: %w", m.Status.Conditions, err)
			}
			return nil
		})
	}
	unready()
	// The status follows the progress of the Job.
	reports := registry.Progress(b)
	report := func(phase progress.Phase) {
		t.Helper()
		if _, err := reports.Put(t.Context(), "fetch.tiny", progress.Report{Stage: "fetch", Phase: phase, Bytes: 1, Total: 2}); err != nil {
			t.Fatal(err)
		}
	}
	report(progress.Running)
	shows("progress", func(o v1alpha1.ModelArtifactObservation) bool { return o.Progress != nil && o.Progress.Percent == 50 })
	w.buckets.save(store, "weights")
	report(progress.Done)
	w.resources.ready(m)
	shows("the files", func(o v1alpha1.ModelArtifactObservation) bool {
		return o.Whole && o.SizeBytes == 7 && o.Progress == nil
	})

	w.change(m, func() { m.Spec.ForProvider.Verify = "first" })
	shows("that it is verified", func(o v1alpha1.ModelArtifactObservation) bool { return o.Verified == "first" })
	w.buckets.save(store, "weighty") // of the size in the manifest, with other contents
	w.change(m, func() { m.Spec.ForProvider.Verify = "second" })
	shows("that it is not right", func(o v1alpha1.ModelArtifactObservation) bool { return !o.Whole && o.Verified == "" })

	w.delete(m)
	w.gone(m)
	if left, err := store.List(t.Context(), ""); err != nil || len(left) > 0 {
		t.Errorf("files after the deletion: got %v, %v; want none", left, err)
	}
}

func TestModelRecord(t *testing.T) {
	w := newTenant(t)
	store, b := w.buckets.artifact(), w.account.queue()
	m := &v1alpha1.ModelRecord{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "tiny"},
		Spec: v1alpha1.ModelRecordSpec{ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.ModelRecordParameters{
			Namespace: w.ns, Name: "tiny", ArtifactURL: "s3://models/tiny",
		}},
	}
	w.create(m)
	w.resources.failing(m, "manifest") // an incomplete model gets no entry
	w.buckets.save(store, "weights")
	w.resources.ready(m)
	models := registry.Models(b)
	w.eventually("the entry", func() error {
		r, err := models.Get(t.Context(), "model/"+w.ns+"/tiny")
		if err == nil && r.Value.Size != 7 {
			return fmt.Errorf("the entry is %+v", r.Value)
		}
		return err
	})

	// An entry can be deleted without its manifest.
	if err := store.Remove(t.Context(), names.Manifest); err != nil {
		t.Fatal(err)
	}
	w.delete(m)
	w.gone(m)
	if _, err := models.Get(t.Context(), "model/"+w.ns+"/tiny"); !fault.Is(err, fault.NotFound) {
		t.Errorf("get entry: got %v, want NotFound", err)
	}
}

func TestHubRevision(t *testing.T) {
	w := newTenant(t)
	h := hubtest.New(t, hubtest.Options{}, map[string][]byte{"config.json": []byte(`{"model_type":"llama"}`), "a.safetensors": []byte("1234")})
	first := h.Commit()
	m := &v1alpha1.HubRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "tiny"},
		Spec:       v1alpha1.HubRevisionSpec{ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.HubRevisionParameters{Source: "hf://" + h.Repo, Revision: "main"}},
	}
	w.config.configure(func(p *v1alpha1.ProviderConfigSpec) { p.Hub = &v1alpha1.HubConfig{Endpoint: h.URL} })
	w.create(m)
	w.resources.ready(m)
	if o := m.Status.AtProvider; o.Commit != first || o.Files != 2 || o.SizeBytes != 26 || o.Config != `{"model_type":"llama"}` {
		t.Errorf("the status is %+v", o)
	}
	h.Publish(map[string][]byte{"config.json": []byte("{}")})
	w.resources.poke(m)
	w.eventually("the handled poke", func() error {
		if err := w.get(m); err != nil || m.Status.LastHandledReconcileAt == "" {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
	if m.Status.AtProvider.Commit != first {
		t.Errorf("the revision follows a branch that moved")
	}

	// The status shows a refusal, and Synced stays true.
	missing := &v1alpha1.HubRevision{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "missing"}, Spec: *m.Spec.DeepCopy()}
	missing.Spec.ForProvider.Source = "hf://org/missing"
	w.create(missing)
	w.eventually("a refusal", func() error {
		if err := w.get(missing); err != nil {
			return err
		}
		if missing.Status.AtProvider.Refusal == "" || missing.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionTrue {
			return fmt.Errorf("the status is %+v", missing.Status)
		}
		return nil
	})
	// A deletion contacts no server.
	h.Break(hubtest.Rule{Do: hubtest.Status(503, "")})
	w.delete(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: w.ns}})
	w.delete(missing)
	w.gone(missing)
}

func TestDemandAndPoolAreObserved(t *testing.T) {
	w := newTenant(t)
	b := w.account.queue()
	d := &v1alpha1.Demand{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "demand"},
		Spec:       v1alpha1.DemandSpec{ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.DemandParameters{Namespace: "ns", MaxIsolated: 8}},
	}
	p := &v1alpha1.Pool{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "pool"},
		Spec:       v1alpha1.PoolSpec{ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.PoolParameters{Session: names.Session("ns", "tiny", ""), MinMembers: 1, MaxMembers: 2}},
	}
	w.create(d)
	w.create(p)
	w.resources.ready(d)
	w.resources.ready(p)
	if len(p.Status.AtProvider.Members) != 1 {
		t.Errorf("got pool %+v, want one member", p.Status.AtProvider)
	}
	if _, err := registry.Demands(b).Put(t.Context(), names.Session("ns", "tiny", ""), registry.Demand{Session: names.Session("ns", "tiny", ""), Namespace: "ns", Model: "tiny"}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the session in the status", func() error {
		if err := w.get(d); err != nil {
			return err
		}
		if s := d.Status.AtProvider.Sessions; len(s) != 1 || s[0].Model != "tiny" {
			return fmt.Errorf("got sessions %+v", s)
		}
		return nil
	})
	// They have no external resource, so a deletion contacts no server.
	w.account.server.Stop()
	w.delete(d)
	w.delete(p)
	w.gone(d)
	w.gone(p)
}
