package manager_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
)

func bucket(w *tenant, name string, policies ...xpv2.ManagementAction) *v1alpha1.Bucket {
	return &v1alpha1.Bucket{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name},
		Spec: v1alpha1.BucketSpec{ManagedResourceSpec: via(w.ns, policies...), ForProvider: v1alpha1.BucketParameters{
			BucketName: name, Tags: map[string]string{"owner": "koldun"},
		}},
	}
}

func (b *buckets) store() *s3.Client {
	b.t.Helper()
	c, err := s3store.NewClient(b.t.Context(), b.s3.Config())
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func (b *buckets) tagged(bucket, key, want string) {
	b.t.Helper()
	c := b.store()
	b.eventually("tag "+key+" of bucket "+bucket, func() error {
		out, err := c.GetBucketTagging(b.t.Context(), &s3.GetBucketTaggingInput{Bucket: &bucket})
		if err != nil {
			return err
		}
		for _, tag := range out.TagSet {
			if aws.ToString(tag.Key) == key && aws.ToString(tag.Value) == want {
				return nil
			}
		}
		return fmt.Errorf("the tags are %v", out.TagSet)
	})
}

func (b *buckets) exists(bucket string) bool {
	b.t.Helper()
	_, err := b.store().HeadBucket(b.t.Context(), &s3.HeadBucketInput{Bucket: &bucket})
	return err == nil
}

func TestBucket(t *testing.T) {
	w := newTenant(t)
	m := bucket(w, "models")
	m.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection"}
	w.create(m)
	w.resources.ready(m)
	w.buckets.tagged("models", "owner", "koldun")
	w.secret("connection", map[string]string{
		"AWS_ENDPOINT_URL_S3": w.buckets.s3.Endpoint, "AWS_REGION": "us-east-1",
		"AWS_ACCESS_KEY_ID": s3test.AccessKey, "AWS_SECRET_ACCESS_KEY": s3test.SecretKey,
	})

	c, name := w.buckets.store(), "models"
	// Without forceDestroy, a bucket with objects is not deleted.
	if _, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &name, Key: aws.String("a"), Body: strings.NewReader("kept")}); err != nil {
		t.Fatal(err)
	}
	w.delete(m)
	w.resources.failing(m, "forceDestroy")
	if _, err := c.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &name, Key: aws.String("a")}); err != nil {
		t.Fatalf("get object: %v", err)
	}
	w.change(m, func() { m.Spec.ForProvider.ForceDestroy = true })
	w.gone(m)
	if w.buckets.exists("models") {
		t.Error("bucket still exists")
	}
}

// TestBucketWithTemporaryCredentials has the platform stop to give pods the credentials
// that last, and give them again.
func TestBucketWithTemporaryCredentials(t *testing.T) {
	w := newTenant(t)
	m := bucket(w, "temporary")
	m.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection"}
	w.create(m)
	lasting := []string{"AWS_ACCESS_KEY_ID", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_SECRET_ACCESS_KEY"}
	w.keys("connection", lasting...)
	sts := s3test.StartSTS(t).Endpoint
	w.config.configure(func(p *v1alpha1.ProviderConfigSpec) { p.S3.STS = &v1alpha1.S3STS{Endpoint: sts} })
	w.keys("connection", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "KOLDUN_S3_CREDENTIALS")
	w.eventually("the status of temporary credentials", func() error { // written after the Secret
		if err := w.get(m); err != nil || m.Status.AtProvider.TemporaryCredentials {
			return err
		}
		return errors.New("the status does not say that the credentials are temporary")
	})
	w.config.configure(func(p *v1alpha1.ProviderConfigSpec) { p.S3.STS = nil })
	w.keys("connection", lasting...)
}

// keys waits for a Secret with exactly those keys.
func (ob *objects) keys(name string, want ...string) {
	ob.t.Helper()
	ob.eventually("keys of Secret "+name, func() error {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ob.ns, Name: name}}
		if err := ob.get(s); err != nil {
			return err
		}
		if have := slices.Sorted(maps.Keys(s.Data)); !slices.Equal(have, want) {
			return fmt.Errorf("it has %v", have)
		}
		return nil
	})
}

// TestBucketIsPolled checks that a poll finds a drift, as buckets have no watch.
func TestBucketIsPolled(t *testing.T) {
	w := newTenant(t)
	m := bucket(w, "polled")
	meta.AddAnnotations(m, map[string]string{meta.AnnotationKeyPollInterval: "1s"})
	w.create(m)
	w.resources.ready(m)
	w.buckets.putTags("polled", "another client")
	w.buckets.tagged("polled", "owner", "koldun")
}

func TestBucketThatExistsIsTakenOver(t *testing.T) {
	w := newTenant(t)
	name := "older"
	if _, err := w.buckets.store().CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	w.buckets.putTags(name, "another client")
	m := bucket(w, name, xpv2.ManagementActionObserve)
	w.create(m)
	w.resources.ready(m)
	if d := m.Status.AtProvider.Differs; len(d) != 1 || d[0] != "tags" {
		t.Errorf("differs: got %v, want tags", d)
	}
	w.change(m, func() {
		m.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate}
	})
	w.buckets.tagged(name, "owner", "koldun")
	w.delete(m)
	w.gone(m)
	if !w.buckets.exists(name) {
		t.Error("bucket was deleted without permission")
	}
}

func TestBucketAsksForNoMoreThanItIsAskedFor(t *testing.T) {
	w := newTenant(t)
	m := bucket(w, "modest")
	w.create(m)
	w.resources.ready(m) // though the server knows no lifecycle rules
	w.change(m, func() {
		m.Spec.ForProvider.LifecycleRules = &[]v1alpha1.LifecycleRule{{ID: "old", ExpirationDays: 1}}
	})
	w.resources.failing(m, "lifecycle")
	m.Spec.ForProvider.BucketName = "other"
	if err := w.client.Update(t.Context(), m); err == nil || !strings.Contains(err.Error(), "cannot be renamed") {
		t.Errorf("rename: got %v, want an error", err)
	}
}
