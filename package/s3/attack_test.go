package s3_test

import (
	"context"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/waittest"
)

// weights and genuine are the file of the victim, and what it holds. own is one of the thief.
const (
	weights = "team-b/source/org/model/weights"
	genuine = "genuine SECRET weights"
	own     = "team-a/own"
)

// TestNamespacesAreApart attacks the folder of one namespace with the credentials that the
// pods of another have, by the calls of the S3 API that the server knows.
func TestNamespacesAreApart(t *testing.T) {
	w := start(t, read(t))
	thief, victim := w.observe(t, "team-a", nil), w.observe(t, "team-b", nil)
	if err := opened(t, pod(victim), "").Put(t.Context(), weights, []byte(genuine)); err != nil {
		t.Fatal(err)
	}
	if err := opened(t, pod(thief), "").Put(t.Context(), own, []byte("x")); err != nil {
		t.Fatal(err)
	}
	for name, value := range thief {
		if strings.Contains(string(value), w.platform().SecretKey) || name == names.EnvS3SecretKey || name == names.EnvS3AccessKey {
			t.Errorf("%s of the Secret of a namespace holds the login of the platform", name)
		}
	}
	a := attacker{clientOf(t, pod(thief)), begun(t, clientOf(t, pod(thief)), own), begun(t, clientOf(t, pod(victim)), weights)}
	for name, attack := range merged(a.reads(), a.writes(), a.configures()) {
		t.Run(name, func(t *testing.T) {
			// Paths with dots are refused before their rights are looked at.
			if err := s3.Fault(attack(waittest.Context(t))); !fault.Is(err, fault.Denied) && !fault.Is(err, fault.Invalid) {
				t.Errorf("got %v, want a refusal", err)
			}
		})
	}
	// One answer has an error for each key.
	both := []types.ObjectIdentifier{{Key: aws.String(weights)}, {Key: aws.String("team-a/../" + weights)}}
	out, err := a.DeleteObjects(t.Context(), &awss3.DeleteObjectsInput{Bucket: bucketName(), Delete: &types.Delete{Objects: both}})
	if err == nil && len(out.Deleted) > 0 {
		t.Errorf("DeleteObjects deletes %v", out.Deleted)
	}
	raw(t, w, pod(thief))
	if got := contentOf(t, w); got != genuine {
		t.Errorf("the file of the victim holds %q", got)
	}
}

// An attacker has credentials of one namespace, and the names of an upload of its own and of
// one of the victim.
type attacker struct {
	*awss3.Client
	own, upload *string
}

// attacks are calls that have to fail, by names.
type attacks map[string]func(context.Context) error

func bucketName() *string { return aws.String(models) }

// call makes an attack of a call of the client.
func call[In, Out any](do func(context.Context, *In, ...func(*awss3.Options)) (*Out, error), in In) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := do(ctx, &in)
		return err
	}
}

func (a attacker) reads() attacks {
	of, key, source := bucketName(), aws.String(weights), aws.String(models+"/"+weights)
	out := attacks{
		"ListAll":            call(a.ListObjectsV2, awss3.ListObjectsV2Input{Bucket: of}),
		"ListV1":             call(a.ListObjects, awss3.ListObjectsInput{Bucket: of, Prefix: aws.String("team-b/")}),
		"ListVersions":       call(a.ListObjectVersions, awss3.ListObjectVersionsInput{Bucket: of}),
		"ListBuckets":        call(a.ListBuckets, awss3.ListBucketsInput{}),
		"ListUploads":        call(a.ListMultipartUploads, awss3.ListMultipartUploadsInput{Bucket: of}),
		"ListUploadsOfOther": call(a.ListMultipartUploads, awss3.ListMultipartUploadsInput{Bucket: of, Prefix: key}),
		"ListParts":          call(a.ListParts, awss3.ListPartsInput{Bucket: of, Key: key, UploadId: a.upload}),
		"Head":               call(a.HeadObject, awss3.HeadObjectInput{Bucket: of, Key: key}),
		"Tags":               call(a.GetObjectTagging, awss3.GetObjectTaggingInput{Bucket: of, Key: key}),
		"ReadPolicy":         call(a.GetBucketPolicy, awss3.GetBucketPolicyInput{Bucket: of}),
		"Copy":               call(a.CopyObject, awss3.CopyObjectInput{Bucket: of, Key: aws.String(own), CopySource: source}),
		"CopyDots":           call(a.CopyObject, awss3.CopyObjectInput{Bucket: of, Key: aws.String(own), CopySource: aws.String(models + "/team-a/../" + weights)}),
		"CopyPart": call(a.UploadPartCopy, awss3.UploadPartCopyInput{
			Bucket: of, Key: aws.String(own), UploadId: a.own, PartNumber: aws.Int32(1), CopySource: source,
		}),
		"Attributes": call(a.GetObjectAttributes, awss3.GetObjectAttributesInput{
			Bucket: of, Key: key, ObjectAttributes: []types.ObjectAttributes{types.ObjectAttributesObjectSize},
		}),
	}
	for name, prefix := range map[string]string{"Other": "team-b/", "Both": "team-", "Dots": "team-a/../team-b/", "Own": "team-a"} {
		out["ListPrefix"+name] = call(a.ListObjectsV2, awss3.ListObjectsV2Input{Bucket: of, Prefix: &prefix})
	}
	for name, path := range paths() {
		out["Get"+name] = call(a.GetObject, awss3.GetObjectInput{Bucket: of, Key: &path})
	}
	return out
}

func (a attacker) writes() attacks {
	of, key := bucketName(), aws.String(weights)
	out := attacks{
		"CopyOver": call(a.CopyObject, awss3.CopyObjectInput{Bucket: of, Key: key, CopySource: aws.String(models + "/" + own)}),
		"Upload":   call(a.CreateMultipartUpload, awss3.CreateMultipartUploadInput{Bucket: of, Key: key}),
		"Abort":    call(a.AbortMultipartUpload, awss3.AbortMultipartUploadInput{Bucket: of, Key: key, UploadId: a.upload}),
		"Complete": call(a.CompleteMultipartUpload, awss3.CompleteMultipartUploadInput{Bucket: of, Key: key, UploadId: a.upload}),
		"Part": func(ctx context.Context) error {
			_, err := a.UploadPart(ctx, &awss3.UploadPartInput{Bucket: of, Key: key, UploadId: a.upload, PartNumber: aws.Int32(1), Body: strings.NewReader("poison")})
			return err
		},
	}
	more := paths()
	more["Sibling"], more["Root"] = "team-a-more/x", "x"
	for name, path := range more {
		out["Delete"+name] = call(a.DeleteObject, awss3.DeleteObjectInput{Bucket: of, Key: &path})
		out["Put"+name] = func(ctx context.Context) error {
			_, err := a.PutObject(ctx, &awss3.PutObjectInput{Bucket: of, Key: &path, Body: strings.NewReader("poison")})
			return err
		}
	}
	return out
}

func (a attacker) configures() attacks {
	of := bucketName()
	open := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::` + models + `/*"}]}`
	return attacks{
		"Policy":       call(a.PutBucketPolicy, awss3.PutBucketPolicyInput{Bucket: of, Policy: &open}),
		"ACL":          call(a.PutBucketAcl, awss3.PutBucketAclInput{Bucket: of, ACL: types.BucketCannedACLPublicRead}),
		"CreateBucket": call(a.CreateBucket, awss3.CreateBucketInput{Bucket: aws.String("squatted")}),
		"DeleteBucket": call(a.DeleteBucket, awss3.DeleteBucketInput{Bucket: of}),
	}
}

// paths are ways to write the name of the victim's file.
func paths() map[string]string {
	return map[string]string{
		"": weights, "Dots": "team-a/../" + weights, "Slashes": "team-a//../" + weights, "Up": "../" + models + "/" + weights, "Dot": "./" + weights,
	}
}

func merged(all ...attacks) attacks {
	out := attacks{}
	for _, some := range all {
		maps.Copy(out, some)
	}
	return out
}

// begun begins an upload, and returns its name.
func begun(t *testing.T, c *awss3.Client, key string) *string {
	t.Helper()
	u, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{Bucket: bucketName(), Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	return u.UploadId
}

// contentOf reads the file of the victim.
func contentOf(t *testing.T, w *world) string {
	t.Helper()
	r, err := opened(t, w.platform(), "").Open(t.Context(), weights, 0, -1)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
