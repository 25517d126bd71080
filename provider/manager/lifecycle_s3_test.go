package manager_test

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/fault"
	s3store "github.com/gorizond/koldun/internal/objectstore/s3"
)

// objects returns the objects of a bucket below a prefix.
func (w *world) objects(bucket, prefix string) (out []string, err error) {
	page, err := w.store().ListObjectsV2(w.t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
	if err != nil {
		return nil, err
	}
	for _, o := range page.Contents {
		out = append(out, fmt.Sprintf("%s %s %s", aws.ToString(o.Key), aws.ToString(o.ETag), o.LastModified))
	}
	return out, nil
}

// bucketTags returns the tags of a bucket, nil if it has none.
func (w *world) bucketTags(bucket string) ([]types.Tag, error) {
	out, err := w.store().GetBucketTagging(w.t.Context(), &s3.GetBucketTaggingInput{Bucket: &bucket})
	if err != nil && strings.Contains(err.Error(), "NoSuchTagSet") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return out.TagSet, nil
}

func bucketLifecycle() lifecycle {
	tagged := func(w *world, name, want string) error {
		tags, err := w.bucketTags(name)
		if err != nil {
			return err
		}
		if len(tags) != 1 || aws.ToString(tags[0].Value) != want {
			return fmt.Errorf("got tags %v, want %q", tags, want)
		}
		return nil
	}
	tag := func(w *world, name, value string) {
		w.t.Helper()
		_, err := w.store().PutBucketTagging(w.t.Context(), &s3.PutBucketTaggingInput{
			Bucket: &name, Tagging: &types.Tagging{TagSet: []types.Tag{{Key: aws.String("owner"), Value: &value}}},
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return lifecycle{
		server: onS3,
		polled: true,
		resource: func(w *world, name string) resource.ModernManaged {
			return bucket(w, name)
		},
		read: func(w *world, name string) (string, error) {
			_, err := w.store().HeadBucket(w.t.Context(), &s3.HeadBucketInput{Bucket: &name})
			if fault.Is(s3store.Fault(err), fault.NotFound) {
				return "", nil
			}
			if err != nil {
				return "", err
			}
			tags, err := w.bucketTags(name)
			if err != nil {
				return "", err
			}
			rules := "none"
			if out, err := w.store().GetBucketPolicy(w.t.Context(), &s3.GetBucketPolicyInput{Bucket: &name}); err == nil {
				rules = aws.ToString(out.Policy)
			}
			objects, err := w.objects(name, "")
			if err != nil {
				return "", err
			}
			return text([]any{tags, rules, objects})
		},
		matches: func(w *world, name string) error { return tagged(w, name, "koldun") },
		update: func(_ *world, m resource.ModernManaged) {
			m.(*v1alpha1.Bucket).Spec.ForProvider.Tags = map[string]string{"owner": "another"}
		},
		updated: func(w *world, _ resource.ModernManaged, name string) error { return tagged(w, name, "another") },
		drift:   func(w *world, name string) { tag(w, name, "another client") },
		exist: func(w *world, name string) {
			c, ctx := w.store(), w.t.Context()
			if _, err := c.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name}); err != nil {
				w.t.Fatal(err)
			}
			tag(w, name, "koldun")
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
	save := func(w *world, name string) {
		w.t.Helper()
		store, err := s3store.New(w.store(), "models", name)
		if err != nil {
			w.t.Fatal(err)
		}
		w.save(store, "weights")
	}
	return lifecycle{
		server: onS3,
		given:  save,
		exist:  save,
		resource: func(w *world, name string) resource.ModernManaged {
			return &v1alpha1.ModelArtifact{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.ModelArtifactSpec{
				ManagedResourceSpec: via(), ForProvider: v1alpha1.ModelArtifactParameters{URL: "s3://models/" + name},
			}}
		},
		read: func(w *world, name string) (string, error) {
			objects, err := w.objects("models", name+"/")
			if err != nil || len(objects) == 0 {
				return "", err
			}
			return text(objects)
		},
		matches: func(w *world, name string) error {
			m := &v1alpha1.ModelArtifact{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}
			if err := w.get(m); err != nil || !m.Status.AtProvider.Whole {
				return fmt.Errorf("the status is %+v: %w", m.Status.AtProvider, err)
			}
			return nil
		},
		update: func(_ *world, m resource.ModernManaged) {
			m.(*v1alpha1.ModelArtifact).Spec.ForProvider.Verify = "once"
		},
		updated: func(_ *world, m resource.ModernManaged, _ string) error {
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
