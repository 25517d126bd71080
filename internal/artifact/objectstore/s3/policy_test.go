package s3_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
)

func TestPolicy(t *testing.T) {
	one := []s3.Access{{Bucket: "b", Prefix: "/p/q/"}}
	two := []s3.Access{{Bucket: "b", Prefix: "p", Write: true}, {Bucket: "c"}}
	const (
		read  = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::b/p/q/*"]},{"Effect":"Allow","Action":["s3:ListBucket"],"Resource":["arn:aws:s3:::b"],"Condition":{"StringLike":{"s3:prefix":["p/q/*"]}}}]}`
		write = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::b/p/*","arn:aws:s3:::c/*"]},{"Effect":"Allow","Action":["s3:ListBucket"],"Resource":["arn:aws:s3:::b"],"Condition":{"StringLike":{"s3:prefix":["p/*"]}}},{"Effect":"Allow","Action":["s3:ListBucket"],"Resource":["arn:aws:s3:::c"]},{"Effect":"Allow","Action":["s3:PutObject","s3:DeleteObject","s3:AbortMultipartUpload","s3:ListMultipartUploadParts"],"Resource":["arn:aws:s3:::b/p/*"]},{"Effect":"Allow","Action":["s3:ListBucketMultipartUploads"],"Resource":["arn:aws:s3:::b"]}]}`
	)
	other := s3.Config{Endpoint: "http://minio"}
	for name, c := range map[string]struct {
		of   []s3.Access
		want string
	}{"Read": {one, read}, "Write": {two, write}} {
		if got, err := other.Policy(c.of); err != nil || got != c.want {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, c.want)
		}
	}
	signed := s3.Config{Endpoint: "https://s3", STS: s3.STS{Signed: true}}
	if got, err := signed.Policy(two); err != nil || strings.Count(got, "s3:ListBucketMultipartUploads") != 1 ||
		!strings.Contains(got, `["s3:ListBucket","s3:ListBucketMultipartUploads"],"Resource":["arn:aws:s3:::b"],"Condition":{"StringLike":{"s3:prefix":["p/*"]}}`) {
		t.Errorf("for a server of Koldun: %s, %v, want the names of uploads limited to the folder", got, err)
	}
	china := s3.Config{STS: s3.STS{RoleARN: "arn:aws-cn:iam::1:role/r"}}
	if got, err := china.Policy(one); err != nil || !strings.Contains(got, `"arn:aws-cn:s3:::b/p/q/*"`) || !strings.Contains(got, "kms:Decrypt") {
		t.Errorf("of AWS in China: %s, %v", got, err)
	}
	long := make([]s3.Access, 8)
	for i := range long {
		long[i] = s3.Access{Bucket: "b", Prefix: strings.Repeat("x", 200)}
	}
	for name, list := range map[string][]s3.Access{
		"Star": {{Bucket: "b", Prefix: "p*"}}, "Question": {{Bucket: "b", Prefix: "p?"}}, "Variable": {{Bucket: "b", Prefix: "${aws:username}"}},
		"NoBucket": {{Prefix: "p"}}, "Long": long,
	} {
		if got, err := other.Policy(list); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %s, %v, want an error of kind Invalid", name, got, err)
		}
	}
}

func TestRightsOfSessions(t *testing.T) {
	base := s3.Config{Endpoint: "e", AccessKey: "a", STS: s3.STS{Endpoint: "s", RoleARN: "r", Life: 1}}
	for name, change := range map[string]func(*s3.Config){
		"Endpoint": func(c *s3.Config) { c.Endpoint = "x" }, "Key": func(c *s3.Config) { c.AccessKey = "x" },
		"STS": func(c *s3.Config) { c.STS.Endpoint = "x" }, "Role": func(c *s3.Config) { c.STS.RoleARN = "x" },
	} {
		other := base
		if change(&other); other.Rights("p") == base.Rights("p") {
			t.Errorf("%s: another one has the same rights", name)
		}
	}
	base.STS.Signed = true
	other := base
	if other.SecretKey = "x"; other.Rights("p") == base.Rights("p") {
		t.Error("sessions that another key has signed have the same rights")
	}
}
