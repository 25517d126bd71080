package bucket_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
)

// capable returns a bucket on a server that implements all aspects.
func capable(t *testing.T) *s3test.Bucket {
	t.Helper()
	b := s3test.NewOn(t, s3test.StartVersioned(t, t.TempDir()))
	front(t, b, s3test.Lifecycles())
	return b
}

// front puts a handler before the server of a bucket.
func front(t *testing.T, b *s3test.Bucket, h s3test.Handler) {
	t.Helper()
	b.Config = s3test.Front(t, b.Config, h)
	var err error
	if b.Client, err = s3store.NewClient(t.Context(), b.Config); err != nil {
		t.Fatal(err)
	}
}

func policy(bucket string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::` + bucket + `/*"}]}`
}

// TestAspects checks that Observe finds that each aspect differs, that Update sets
// it, and that both repair it after another client's change.
func TestAspects(t *testing.T) {
	b := capable(t)
	rules := &[]bucket.Rule{{ID: "old", Prefix: "logs/", ExpirationDays: 3, NoncurrentDays: 1}, {ID: "all", NoncurrentDays: 7}}
	cases := map[string]struct {
		want  bucket.Spec
		other bucket.Spec // the change of another client
		empty bucket.Spec // removes it; zero if that is impossible
	}{
		"versioning": {bucket.Spec{Versioning: "Enabled"}, bucket.Spec{Versioning: "Suspended"}, bucket.Spec{}},
		"lifecycle":  {bucket.Spec{LifecycleRules: rules}, bucket.Spec{LifecycleRules: &[]bucket.Rule{{ID: "old", ExpirationDays: 9}}}, bucket.Spec{LifecycleRules: &[]bucket.Rule{}}},
		"tags":       {bucket.Spec{Tags: map[string]string{"a": "1", "b": "2"}}, bucket.Spec{Tags: map[string]string{"a": "3"}}, bucket.Spec{Tags: map[string]string{}}},
		"policy":     {bucket.Spec{Policy: policy(b.Name)}, bucket.Spec{Policy: strings.Replace(policy(b.Name), "Get", "Put", 1)}, bucket.Spec{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := bucket.New(b.Client, b.Config)
			differs := func(s bucket.Spec, want ...string) {
				t.Helper()
				s.BucketName = b.Name
				o, err := client.Observe(t.Context(), s)
				if err != nil || !slices.Equal(o.Status.Differs, want) || o.UpToDate != (len(want) == 0) {
					t.Fatalf("Observe: got %+v, %v, want a difference in %v", o, err, want)
				}
			}
			update := func(s bucket.Spec) {
				t.Helper()
				s.BucketName = b.Name
				if err := client.Update(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			differs(c.want, name)
			update(c.want)
			differs(c.want)
			update(c.other)
			differs(c.want, name)
			update(c.want)
			differs(c.want)
			update(bucket.Spec{}) // without aspects
			differs(c.want)
			if c.empty.LifecycleRules != nil || c.empty.Tags != nil {
				update(c.empty)
				differs(c.empty)
				differs(c.want, name)
			}
		})
	}
}

// A rule with fields that a Rule lacks differs from every Rule.
func TestForeignRule(t *testing.T) {
	b := capable(t)
	c := bucket.New(b.Client, b.Config)
	spec := bucket.Spec{BucketName: b.Name, LifecycleRules: &[]bucket.Rule{{ID: "old", ExpirationDays: 1}}}
	_, err := b.Client.PutBucketLifecycleConfiguration(t.Context(), &s3.PutBucketLifecycleConfigurationInput{
		Bucket: &b.Name, LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: []types.LifecycleRule{{
			ID: aws.String("old"), Status: types.ExpirationStatusEnabled, Expiration: &types.LifecycleExpiration{Days: aws.Int32(1)},
			Filter: &types.LifecycleRuleFilter{ObjectSizeGreaterThan: aws.Int64(1)},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(t.Context(), spec); err != nil || o.UpToDate {
		t.Errorf("Observe: got %+v, %v, want a difference", o, err)
	}
	if err := c.Update(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(t.Context(), spec); err != nil || !o.UpToDate {
		t.Errorf("Observe after Update: %+v, %v", o, err)
	}
}

func TestStaleUploadsAreAborted(t *testing.T) {
	ctx := t.Context()
	b := s3test.New(t)
	if _, err := b.Client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &b.Name, Key: aws.String("begun")}); err != nil {
		t.Fatal(err)
	}
	spec := bucket.Spec{BucketName: b.Name, AbortUploadsAfterDays: 2}
	for _, c := range []struct {
		age   time.Duration
		stale bool
	}{{47 * time.Hour, false}, {49 * time.Hour, true}} {
		client := bucket.New(b.Client, b.Config).At(time.Now().Add(c.age))
		if o, err := client.Observe(ctx, spec); err != nil || o.UpToDate == c.stale {
			t.Errorf("after %s: got %+v, %v, want stale %v", c.age, o, err, c.stale)
		}
		if err := client.Update(ctx, spec); err != nil {
			t.Fatal(err)
		}
		if left := b.Uploads(t); (left == 0) != c.stale {
			t.Errorf("after %s: got %d uploads, want them aborted: %v", c.age, left, c.stale)
		}
	}
}

// A forced deletion includes versions and delete markers.
func TestVersionsAreDestroyedWhenTold(t *testing.T) {
	ctx := t.Context()
	b := capable(t)
	c := bucket.New(b.Client, b.Config)
	spec := bucket.Spec{BucketName: b.Name, Versioning: "Enabled"}
	if err := c.Update(ctx, spec); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if _, err := b.Client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.Name, Key: aws.String("a"), Body: strings.NewReader(text)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.Name, Key: aws.String("a")}); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, spec); !fault.Is(err, fault.Conflict) {
		t.Errorf("Delete of a bucket with versions: got %v of kind %s, want Conflict", err, fault.KindOf(err))
	}
	spec.ForceDestroy = true
	if err := c.Delete(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(ctx, spec); err != nil || o.Exists {
		t.Errorf("Observe after Delete: %+v, %v", o, err)
	}
}

// An aspect that a server does not implement is an error only if the spec sets it.
func TestNotImplemented(t *testing.T) {
	name := "aspects"
	all := map[string]bucket.Spec{
		"versioning": {Versioning: "Enabled"},
		"lifecycle":  {LifecycleRules: &[]bucket.Rule{{ID: "old", ExpirationDays: 1}}},
		"tagging":    {Tags: map[string]string{"a": "1"}},
		"policy":     {Policy: policy(name)},
		"uploads":    {AbortUploadsAfterDays: 1},
	}
	for query, asked := range all {
		t.Run(query, func(t *testing.T) {
			ctx := t.Context()
			b := s3test.New(t)
			front(t, b, s3test.Refuse(query))
			c := bucket.New(b.Client, b.Config)
			asked.BucketName = b.Name
			if err := c.Update(ctx, asked); !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), b.Name) {
				t.Errorf("Update: got %v of kind %s, want Unsupported, and the bucket's name", err, fault.KindOf(err))
			}
			if _, err := c.Observe(ctx, asked); !fault.Is(err, fault.Unsupported) {
				t.Errorf("Observe: got %v of kind %s, want Unsupported", err, fault.KindOf(err))
			}
			for other := range all {
				spec := bucket.Spec{BucketName: b.Name}
				if other == "tagging" && query != other {
					spec.Tags = map[string]string{"a": "1"} // which this server implements
				}
				if err := c.Update(ctx, spec); err != nil {
					t.Errorf("Update without %s: %v", query, err)
				}
				if o, err := c.Observe(ctx, spec); err != nil || !o.UpToDate {
					t.Errorf("Observe without %s: %+v, %v", query, o, err)
				}
			}
		})
	}
}
