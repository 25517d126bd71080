package bucket_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
)

func TestMain(m *testing.M) { s3test.Main(m) }

func TestLifeOfABucket(t *testing.T) {
	ctx := t.Context()
	b := s3test.New(t)
	c := bucket.New(b.Client, b.Config)
	spec := bucket.Spec{BucketName: b.Name + "-more"}

	if o, err := c.Observe(ctx, spec); err != nil || o.Exists {
		t.Fatalf("Observe of nothing: %+v, %v", o, err)
	}
	for range 2 { // an existing bucket is adopted
		if err := c.Create(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	o, err := c.Observe(ctx, spec)
	if err != nil || !o.Exists || !o.UpToDate || !o.Ready || o.Status.TemporaryCredentials || string(o.Connection["AWS_ACCESS_KEY_ID"]) != b.Config.AccessKey {
		t.Fatalf("Observe after Create: %+v, %v", o, err)
	}
	key := "kept"
	if _, err := b.Client.PutObject(ctx, &s3.PutObjectInput{Bucket: &spec.BucketName, Key: &key, Body: strings.NewReader("x")}); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, spec); err == nil {
		t.Fatal("a bucket with objects is deleted without ForceDestroy")
	}
	if _, err := b.Client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &spec.BucketName, Key: &key}); err != nil {
		t.Fatalf("get object after the refused deletion: %v", err)
	}
	spec.ForceDestroy = true
	for range 2 {
		if err := c.Delete(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	if o, err := c.Observe(ctx, spec); err != nil || o.Exists {
		t.Errorf("Observe after Delete: %+v, %v", o, err)
	}
}

func TestWrongKeyIsDenied(t *testing.T) {
	b := s3test.New(t)
	cfg := b.Config
	cfg.SecretKey = "wrong"
	client, err := s3store.NewClient(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := bucket.New(client, cfg)
	_, err = c.Observe(t.Context(), bucket.Spec{BucketName: b.Name})
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), b.Name) {
		t.Errorf("Observe: got %v of kind %s, want Denied and the bucket's name", err, fault.KindOf(err))
	}
	if err != nil && strings.Contains(err.Error(), "wrong") {
		t.Errorf("error contains the key: %v", err)
	}
}
