package objectstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/modelref"
)

// tokenMetadata is the user metadata that carries an upload's token. S3 stores
// it with the object at the moment the upload completes.
const tokenMetadata = "koldun-token"

// noToken is the token of objects written in one step. It is written out
// because some gateways keep the metadata of the object that was there before.
const noToken = "-"

// s3Store keeps objects in a bucket below a key prefix.
type s3Store struct {
	client *s3.Client
	bucket string
	prefix string // "" or ends in a slash
	plain  bool   // S3Config.PlainParts
}

// OpenS3 opens a bucket and key prefix as a store. It asks no server.
func OpenS3(ctx context.Context, bucket, prefix string, cfg S3Config) (Store, error) {
	client, err := NewS3Client(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s, err := newS3(client, bucket, prefix)
	if err != nil {
		return nil, err
	}
	s.plain = cfg.PlainParts
	return s, nil
}

// NewS3 is OpenS3 with a client that is shared.
func NewS3(client *s3.Client, bucket, prefix string) (Store, error) {
	return newS3(client, bucket, prefix)
}

func newS3(client *s3.Client, bucket, prefix string) (*s3Store, error) {
	if bucket == "" {
		return nil, fault.Errorf(fault.Invalid, "cannot open a bucket: no name given")
	}
	prefix = strings.Trim(prefix, "/")
	if prefix != "" {
		if err := checkName(prefix); err != nil {
			return nil, fmt.Errorf("cannot open bucket %q: %w", bucket, err)
		}
		prefix += "/"
	}
	return &s3Store{client: client, bucket: bucket, prefix: prefix}, nil
}

func (s *s3Store) URL() string {
	return modelref.Ref{Scheme: modelref.S3, Bucket: s.bucket, Path: strings.TrimSuffix(s.prefix, "/")}.String()
}

func (s *s3Store) key(name string) *string { return aws.String(s.prefix + name) }

func (s *s3Store) Stat(ctx context.Context, name string) (Object, error) {
	o, err := s.stat(ctx, name)
	if err != nil {
		return Object{}, s.errorf(ctx, "stat", name, err)
	}
	return o, nil
}

func (s *s3Store) stat(ctx context.Context, name string) (Object, error) {
	if err := checkName(name); err != nil {
		return Object{}, err
	}
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: s.key(name)})
	if err != nil {
		return Object{}, err
	}
	return Object{
		Name:     name,
		Size:     aws.ToInt64(out.ContentLength),
		ETag:     aws.ToString(out.ETag),
		Modified: aws.ToTime(out.LastModified),
		Token:    tokenOf(out.Metadata),
	}, nil
}

func (s *s3Store) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	r, err := s.open(ctx, name, offset, length)
	if err != nil {
		return nil, s.errorf(ctx, "read", name, err)
	}
	return r, nil
}

func (s *s3Store) open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if offset < 0 {
		return nil, fault.Errorf(fault.Invalid, "offset %d is negative", offset)
	}
	if length == 0 { // not expressible as a range
		return s.openEnd(ctx, name, offset)
	}
	in := &s3.GetObjectInput{Bucket: &s.bucket, Key: s.key(name)}
	switch {
	case length > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	case offset > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", offset))
	}
	out, err := s.client.GetObject(ctx, in)
	if hasCode(err, "InvalidRange") { // also what a range of an empty object gets
		r, endErr := s.openEnd(ctx, name, offset)
		if endErr == nil && length > 0 {
			return &exactReader{r: r, left: length, wrap: s.readError(ctx, name)}, nil
		}
		return r, endErr
	}
	if err != nil {
		return nil, err
	}
	if length < 0 {
		length = aws.ToInt64(out.ContentLength)
	}
	return &exactReader{r: out.Body, left: length, wrap: s.readError(ctx, name)}, nil
}

// openEnd gives no bytes of an object that has at least offset of them.
func (s *s3Store) openEnd(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	o, err := s.stat(ctx, name)
	if err != nil {
		return nil, err
	}
	if offset > o.Size {
		return nil, fault.Errorf(fault.Invalid, "offset %d is outside its %d bytes", offset, o.Size)
	}
	return io.NopCloser(bytes.NewReader(nil)), nil
}

func (s *s3Store) readError(ctx context.Context, name string) func(error) error {
	return func(err error) error {
		if fault.KindOf(err) == fault.Internal && ctx.Err() == nil {
			err = fault.As(fault.Transient, err) // a body breaks only with its connection
		}
		return s.errorf(ctx, "read", name, err)
	}
}

func (s *s3Store) List(ctx context.Context, prefix string) ([]Object, error) {
	var list []Object
	err := s.each(ctx, prefix, func(o Object) error {
		if !strings.HasPrefix(o.Name, WorkDir+"/") {
			list = append(list, o)
		}
		return nil
	})
	if err != nil {
		return nil, s.errorf(ctx, "list", prefix, err)
	}
	return list, nil
}

// each calls f for every object whose name starts with prefix, in the order of
// names (S3 lists keys in the order of their UTF-8 bytes).
func (s *s3Store) each(ctx context.Context, prefix string, f func(Object) error) error {
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: s.key(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, o := range page.Contents {
			name := strings.TrimPrefix(aws.ToString(o.Key), s.prefix)
			if name == "" || strings.HasSuffix(name, "/") { // what consoles put in place of folders
				continue
			}
			err := f(Object{Name: name, Size: aws.ToInt64(o.Size), ETag: aws.ToString(o.ETag), Modified: aws.ToTime(o.LastModified)})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *s3Store) Put(ctx context.Context, name string, body []byte) error {
	err := checkName(name)
	if err == nil {
		err = s.put(ctx, name, body)
	}
	if err != nil {
		return s.errorf(ctx, "write", name, err)
	}
	return nil
}

func (s *s3Store) put(ctx context.Context, name string, body []byte) error {
	in := &lentBody{r: bytes.NewReader(body)}
	defer in.detach()
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket:   &s.bucket,
		Key:      s.key(name),
		Body:     in,
		Metadata: map[string]string{tokenMetadata: noToken},
	})
	return err
}

func (s *s3Store) Remove(ctx context.Context, name string) error {
	err := checkName(name)
	if err == nil {
		err = s.remove(ctx, name)
	}
	if err != nil {
		return s.errorf(ctx, "remove", name, err)
	}
	return nil
}

func (s *s3Store) remove(ctx context.Context, name string) error {
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: s.key(name)})
	if hasCode(err, "NoSuchKey") {
		return nil
	}
	return err
}

func (s *s3Store) errorf(ctx context.Context, verb, name string, err error) error {
	if ctx.Err() != nil { // the SDK hides the cause in texts of its own
		return fmt.Errorf("cannot %s object %q: %w", verb, s.URL()+"/"+name, context.Cause(ctx))
	}
	if hasCode(err, "NoSuchBucket") { // whatever the object is, it is not what is missing
		return fault.Errorf(fault.NotFound, "cannot use bucket %q: it does not exist (NoSuchBucket): create it, or correct the bucket's name or the endpoint", s.bucket)
	}
	return fmt.Errorf("cannot %s object %q%s: %w", verb, s.URL()+"/"+name, s.at(err), S3Error(err))
}

// at says which service has answered with an error; others name it themselves.
func (s *s3Store) at(err error) string {
	var api smithy.APIError
	if e := aws.ToString(s.client.Options().BaseEndpoint); e != "" && errors.As(err, &api) {
		return " at " + e
	}
	return ""
}

func hasCode(err error, code string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == code
}

func tokenOf(metadata map[string]string) string {
	token := metadata[tokenMetadata]
	if token == noToken {
		return ""
	}
	return token
}
