package hostile_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/test/cluster"
)

// commonBucket is the one in which each namespace has a folder.
const commonBucket = "victim-models"

// kept is a file of the victim in it.
const kept = "default/source/org/model/kept"

// storeAttacks returns what the credentials of a namespace's pods must not do in the
// bucket, though the object store accepts them.
func storeAttacks() map[string]func(ctx context.Context, c *s3.Client) error {
	bucket := aws.String(commonBucket)
	get := func(key string) func(context.Context, *s3.Client) error {
		return func(ctx context.Context, c *s3.Client) error {
			_, err := c.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: aws.String(key)})
			return err
		}
	}
	put := func(key string) func(context.Context, *s3.Client) error {
		return func(ctx context.Context, c *s3.Client) error {
			_, err := c.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: aws.String(key), Body: strings.NewReader("poison")})
			return err
		}
	}
	list := func(prefix *string) func(context.Context, *s3.Client) error {
		return func(ctx context.Context, c *s3.Client) error {
			_, err := c.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: bucket, Prefix: prefix})
			return err
		}
	}
	return map[string]func(context.Context, *s3.Client) error{
		"Reads": get(kept), "ReadsByDots": get("hostile/../" + kept), "ReadsSibling": get("hostiles/x"), "ReadsTop": get("x"),
		"Overwrites": put(kept), "OverwritesByDots": put("hostile/../" + kept), "WritesTop": put("manifest.json"), "FillsSharedCache": put("platform/x"),
		"ListsFolder": list(aws.String("default/")), "ListsAll": list(nil),
		"Copies": func(ctx context.Context, c *s3.Client) error {
			_, err := c.CopyObject(ctx, &s3.CopyObjectInput{Bucket: bucket, Key: aws.String("hostile/copy"), CopySource: aws.String(commonBucket + "/" + kept)})
			return err
		},
		"Deletes": func(ctx context.Context, c *s3.Client) error {
			_, err := c.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: aws.String(kept)})
			return err
		},
		"Uploads": func(ctx context.Context, c *s3.Client) error {
			_, err := c.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: bucket, Key: aws.String(kept)})
			return err
		},
		"AllowsItself": func(ctx context.Context, c *s3.Client) error {
			_, err := c.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: bucket, Policy: aws.String(`{"Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":"arn:aws:s3:::` + commonBucket + `/*"}]}`)})
			return err
		},
		"DeletesBucket": func(ctx context.Context, c *s3.Client) error {
			_, err := c.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: bucket})
			return err
		},
	}
}

// attackStore attacks the victim's files with the credentials that the provider gives to
// pods of the attacker, which may use their own folder and read the shared one.
func (v *target) attackStore(t *testing.T) {
	t.Helper()
	o := decode(t, strings.Replace(object("Bucket", folders, "{bucketName: "+commonBucket+", access: [{prefix: hostile, write: true}, {prefix: platform}]}"),
		"spec: {", "spec: {managementPolicies: [Observe], writeConnectionSecretToRef: {name: store}, ", 1))[0]
	if err := v.attack(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the credentials of the attacker's pods", v.condition(foe, o, "Ready", "True", ""))
	c := v.storeOf(t, o)
	for key, write := range map[string]bool{"hostile/x": true, "platform/shared": false} {
		in := &s3.PutObjectInput{Bucket: aws.String(commonBucket), Key: aws.String(key), Body: strings.NewReader("x")}
		if _, err := v.store.PutObject(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if _, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: in.Bucket, Key: in.Key}); err != nil {
			t.Errorf("it cannot read %s: %v", key, err)
		}
		if _, err := c.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: in.Bucket, Key: in.Key}); (err == nil) != write {
			t.Errorf("delete of %s: %v, want it allowed: %v", key, err, write)
		}
		if _, err := v.store.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: in.Bucket, Key: in.Key}); err != nil {
			t.Error(err)
		}
	}
	for name, try := range storeAttacks() {
		t.Run(name, func(t *testing.T) {
			if err := s3store.Fault(try(t.Context(), c)); !fault.Is(err, fault.Denied) {
				t.Errorf("the object store says %v, want that access is denied", err)
			}
		})
	}
	v.withdraw(t, o)
}

// storeOf returns a client with the credentials in the Secret of a Bucket.
func (v *target) storeOf(t *testing.T, o *unstructured.Unstructured) *s3.Client {
	t.Helper()
	var secret corev1.Secret
	if err := v.Client().Get(t.Context(), client.ObjectKey{Namespace: o.GetNamespace(), Name: "store"}, &secret); err != nil {
		t.Fatal(err)
	}
	cfg := s3store.ConfigFromEnv(func(key string) string { return string(secret.Data[key]) })
	if cfg.AccessKey != "" || cfg.Credentials == "" {
		t.Fatalf("the Secret does not hold temporary credentials alone: it has %d keys", len(secret.Data))
	}
	c, err := s3store.NewClient(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
