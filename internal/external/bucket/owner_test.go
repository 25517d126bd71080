package bucket_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
)

func TestNoNamespaceDestroysABucketOfAnother(t *testing.T) {
	ctx := t.Context()
	b := s3test.New(t)
	c := bucket.New(b.Client, b.Config)
	an := func(namespace string) external.Owner { return external.Owner{Namespace: namespace, Common: true} }
	spec := bucket.Spec{BucketName: b.Name + "-owned", Owner: an("victim"), Tags: map[string]string{"team": "a"}}
	if err := c.Create(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if seen, err := c.View(ctx, bucket.Spec{BucketName: spec.BucketName}, external.AllFields); err != nil || len(seen.Tags) != 1 {
		t.Errorf("the owner is among the tags: %v, %v", seen.Tags, err)
	}
	key := "kept"
	if _, err := b.Client.PutObject(ctx, &s3.PutObjectInput{Bucket: &spec.BucketName, Key: &key, Body: strings.NewReader("x")}); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]bucket.Spec{
		"Destroys":   {ForceDestroy: true},
		"Publishes":  {Policy: `{"Version":"2012-10-17","Statement":[]}`},
		"Tags":       {Tags: map[string]string{}},
		"SetsOwner":  {Tags: map[string]string{external.OwnerKey: "hostile"}, ForceDestroy: true},
		"OwnLogin":   {ForceDestroy: true, Owner: external.Owner{Namespace: "hostile"}},
		"Terraforms": {ForceDestroy: true, Owner: external.Owner{Namespace: ""}},
	} {
		t.Run(name, func(t *testing.T) {
			s.BucketName = spec.BucketName
			if s.Owner == (external.Owner{}) && name != "Terraforms" {
				s.Owner = an("hostile")
			}
			if _, err := c.Observe(ctx, s); err == nil {
				t.Error("it is observed without an error")
			}
			if err := c.Delete(ctx, s); !errors.Is(err, external.ErrNotOwner) {
				t.Errorf("Delete: %v", err)
			}
			s.Owner.Deleting = true
			if o, err := c.Observe(ctx, s); err != nil || o.Exists {
				t.Errorf("at its deletion: %+v, %v", o, err)
			}
		})
	}
	if _, err := b.Client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &spec.BucketName, Key: &key}); err != nil {
		t.Fatalf("the victim's object: %v", err)
	}
	used := bucket.Spec{BucketName: spec.BucketName, Owner: an("hostile")}
	if o, err := c.Observe(ctx, used); err != nil || !o.Ready || !o.UpToDate {
		t.Errorf("as it is: %+v, %v", o, err)
	}
	// The owner may still do all of it, and keeps the mark with other tags.
	spec.Tags = map[string]string{}
	if err := c.Update(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(ctx, spec); err != nil || !o.UpToDate {
		t.Errorf("without tags: %+v, %v", o, err)
	}
	spec.ForceDestroy = true
	if err := c.Delete(ctx, spec); err != nil {
		t.Fatal(err)
	}
}

// TestFirstTenantOwnsNoSharedBucket has the namespace that makes a bucket, in which all have
// folders, change and delete it: also one that an earlier version recorded as its owner.
func TestFirstTenantOwnsNoSharedBucket(t *testing.T) {
	ctx := t.Context()
	b := s3test.New(t)
	free := bucket.New(b.Client, b.Config)
	bound := b.Config
	bound.Bound = &s3store.Bound{Folder: "first"}
	c := bucket.New(b.Client, bound)
	first := external.Owner{Namespace: "first", Common: true}
	made, marked := bucket.Spec{BucketName: b.Name + "-shared", Owner: first}, bucket.Spec{BucketName: b.Name + "-marked", Owner: first}
	for name, err := range map[string]error{"made": c.Create(ctx, made), "marked": free.Create(ctx, marked)} {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for name, s := range map[string]bucket.Spec{
		"Destroys":  {ForceDestroy: true},
		"Publishes": {Policy: `{"Version":"2012-10-17","Statement":[]}`},
		"Versions":  {Versioning: "Enabled"},
		"Tags":      {Tags: map[string]string{"team": "first"}},
	} {
		t.Run(name, func(t *testing.T) {
			s.Owner = first
			for _, s.BucketName = range []string{made.BucketName, marked.BucketName} {
				if _, err := c.Observe(ctx, s); !errors.Is(err, external.ErrNotOwner) || !strings.Contains(err.Error(), `of which "first" has folder "first"`) {
					t.Errorf("Observe %s: %v", s.BucketName, err)
				}
				if err := c.Delete(ctx, s); !errors.Is(err, external.ErrNotOwner) {
					t.Errorf("Delete %s: %v", s.BucketName, err)
				}
				if err := c.Update(ctx, s); !s.ForceDestroy && !errors.Is(err, external.ErrNotOwner) {
					t.Errorf("Update %s: %v", s.BucketName, err)
				}
			}
			s.BucketName = b.Name + "-new"
			if err := c.Create(ctx, s); !errors.Is(err, external.ErrNotOwner) {
				t.Errorf("Create: %v", err)
			}
			if o, err := c.Observe(ctx, bucket.Spec{BucketName: s.BucketName, Owner: first}); err != nil || o.Exists {
				t.Errorf("a refused bucket exists: %v, %v", o.Exists, err)
			}
		})
	}
	if o, err := c.Observe(ctx, made); err != nil || !o.Ready || !o.UpToDate {
		t.Errorf("as it is: %+v, %v", o, err)
	}
	// Its deletion leaves the bucket to the others.
	made.Owner.Deleting = true
	if o, err := c.Observe(ctx, made); err != nil || o.Exists {
		t.Errorf("at its deletion: %+v, %v", o, err)
	}
	if _, err := b.Client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &made.BucketName}); err != nil {
		t.Error(err)
	}
	// A namespace with a login of its own may do all of it, whatever folders its pods have.
	own := bucket.Spec{BucketName: b.Name + "-own", Owner: external.Owner{Namespace: "first"}, Tags: map[string]string{"a": "b"}, ForceDestroy: true}
	if err := c.Create(ctx, own); err != nil {
		t.Error(err)
	}
	if err := c.Delete(ctx, own); err != nil {
		t.Error(err)
	}
}
