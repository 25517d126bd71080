package manager_test

import (
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

// list returns the objects of a bucket below a prefix.
func (b *buckets) list(bucket, prefix string) (out []string, err error) {
	page, err := b.store().ListObjectsV2(b.t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
	if err != nil {
		return nil, err
	}
	for _, o := range page.Contents {
		out = append(out, fmt.Sprintf("%s %s %s", aws.ToString(o.Key), aws.ToString(o.ETag), o.LastModified))
	}
	return out, nil
}

// tags returns the tags of a bucket, nil if it has none.
func (b *buckets) tags(bucket string) (map[string]string, error) {
	out, err := b.store().GetBucketTagging(b.t.Context(), &s3.GetBucketTaggingInput{Bucket: &bucket})
	if err != nil && strings.Contains(err.Error(), "NoSuchTagSet") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	tags := map[string]string{}
	for _, t := range out.TagSet {
		tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return tags, nil
}

// putTags tags a bucket of the namespace as another client does, or a platform engineer who
// hands it over.
func (b *buckets) putTags(bucket, owner string) {
	b.t.Helper()
	tags := []types.Tag{{Key: aws.String("owner"), Value: &owner}, {Key: aws.String(external.OwnerKey), Value: &b.ns}}
	if _, err := b.store().PutBucketTagging(b.t.Context(), &s3.PutBucketTaggingInput{Bucket: &bucket, Tagging: &types.Tagging{TagSet: tags}}); err != nil {
		b.t.Fatal(err)
	}
}

func bucketLifecycle() lifecycle {
	tagged := func(w *tenant, name, want string) error {
		have, err := w.buckets.tags(name)
		if err == nil && !maps.Equal(have, map[string]string{"owner": want, external.OwnerKey: w.ns}) {
			err = fmt.Errorf("got tags %v, want owner %q of namespace %q", have, want, w.ns)
		}
		return err
	}
	return lifecycle{
		server: onS3,
		polled: true,
		resource: func(w *tenant, name string) resource.ModernManaged {
			return bucket(w, name)
		},
		read: func(w *tenant, name string) (string, error) {
			_, err := w.buckets.store().HeadBucket(w.t.Context(), &s3.HeadBucketInput{Bucket: &name})
			if fault.Is(s3store.Fault(err), fault.NotFound) {
				return "", nil
			}
			if err != nil {
				return "", err
			}
			tags, err := w.buckets.tags(name)
			if err != nil {
				return "", err
			}
			rules := "none"
			if out, err := w.buckets.store().GetBucketPolicy(w.t.Context(), &s3.GetBucketPolicyInput{Bucket: &name}); err == nil {
				rules = aws.ToString(out.Policy)
			}
			objects, err := w.buckets.list(name, "")
			if err != nil {
				return "", err
			}
			return text([]any{tags, rules, objects})
		},
		matches: func(w *tenant, name string) error { return tagged(w, name, "koldun") },
		update: func(_ *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.Bucket).Spec.ForProvider.Tags = map[string]string{"owner": "another"}
		},
		updated: func(w *tenant, _ resource.ModernManaged, name string) error { return tagged(w, name, "another") },
		drift:   func(w *tenant, name string) { w.buckets.putTags(name, "another client") },
		exist: func(w *tenant, name string) {
			c, ctx := w.buckets.store(), w.t.Context()
			if _, err := c.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name}); err != nil {
				w.t.Fatal(err)
			}
			w.buckets.putTags(name, "koldun")
			rules := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::` + name + `/*"}]}`
			if _, err := c.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: &name, Policy: &rules}); err != nil {
				w.t.Fatal(err)
			}
			if _, err := c.PutObject(ctx, &s3.PutObjectInput{Bucket: &name, Key: aws.String("a"), Body: strings.NewReader("kept")}); err != nil {
				w.t.Fatal(err)
			}
		},
	}
}

func modelArtifactLifecycle() lifecycle {
	save := func(w *tenant, name string) {
		w.t.Helper()
		store, err := s3store.New(w.buckets.store(), "models", name)
		if err != nil {
			w.t.Fatal(err)
		}
		w.buckets.save(store, "weights")
	}
	return lifecycle{
		server:  onS3,
		orphans: true, // the object store is the platform's; TestModelArtifact has one of the namespace's own
		given:   save,
		exist:   save,
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.ModelArtifact{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.ModelArtifactSpec{
				ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.ModelArtifactParameters{URL: "s3://models/" + name},
			}}
		},
		read: func(w *tenant, name string) (string, error) {
			objects, err := w.buckets.list("models", name+"/")
			if err != nil || len(objects) == 0 {
				return "", err
			}
			return text(objects)
		},
		matches: func(w *tenant, name string) error {
			m := &v1alpha1.ModelArtifact{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}
			if err := w.get(m); err != nil || !m.Status.AtProvider.Whole {
				return fmt.Errorf("the status is %+v: %w", m.Status.AtProvider, err)
			}
			return nil
		},
		update: func(_ *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.ModelArtifact).Spec.ForProvider.Verify = "once"
		},
		updated: func(_ *tenant, m resource.ModernManaged, _ string) error {
			if got := m.(*v1alpha1.ModelArtifact).Status.AtProvider.Verified; got != "once" {
				return fmt.Errorf("verified for %q", got)
			}
			return nil
		},
		skip: map[string]string{
			"drift": "its files are made by Jobs: that some are missing is shown, and repaired by them",
		},
	}
}
