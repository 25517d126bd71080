// Package s3 stores objects in an S3 bucket below a key prefix.
package s3

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/modelref"
)

// tokenMetadata is the key of the user metadata that holds an upload's token. S3
// stores it with the object when the upload completes.
const tokenMetadata = "koldun-token"

// noToken is the token of objects that Put writes. It is set explicitly because
// some gateways keep the metadata of the object they replace.
const noToken = "-"

// A store is a bucket and key prefix.
type store struct {
	client *s3.Client
	bucket string
	prefix string // "" or ends in a slash
	plain  bool   // Config.PlainParts
}

// Open opens a bucket and key prefix as a store. It sends no request.
func Open(ctx context.Context, bucket, prefix string, cfg Config) (objectstore.Store, error) {
	client, err := NewClient(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s, err := newStore(client, bucket, prefix)
	if err != nil {
		return nil, err
	}
	s.plain = cfg.PlainParts
	return s, nil
}

// New is Open with an existing client.
func New(client *s3.Client, bucket, prefix string) (objectstore.Store, error) {
	return newStore(client, bucket, prefix)
}

func newStore(client *s3.Client, bucket, prefix string) (*store, error) {
	if bucket == "" {
		return nil, fault.Errorf(fault.Invalid, "cannot open a bucket: no name given")
	}
	prefix = strings.Trim(prefix, "/")
	if prefix != "" {
		if err := objectstore.CheckName(prefix); err != nil {
			return nil, fmt.Errorf("cannot open bucket %q: %w", bucket, err)
		}
		prefix += "/"
	}
	return &store{client: client, bucket: bucket, prefix: prefix}, nil
}

func (s *store) URL() string {
	return modelref.Ref{Scheme: modelref.S3, Bucket: s.bucket, Path: strings.TrimSuffix(s.prefix, "/")}.String()
}

func (s *store) key(name string) *string { return aws.String(s.prefix + name) }

func (s *store) Stat(ctx context.Context, name string) (objectstore.Object, error) {
	o, err := s.stat(ctx, name)
	if err != nil {
		return objectstore.Object{}, s.errorf(ctx, "stat", name, err)
	}
	return o, nil
}

func (s *store) stat(ctx context.Context, name string) (objectstore.Object, error) {
	if err := objectstore.CheckName(name); err != nil {
		return objectstore.Object{}, err
	}
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: s.key(name)})
	if s.absent(ctx, name, err) {
		return objectstore.Object{}, fault.Errorf(fault.NotFound, "it does not exist")
	}
	if err != nil {
		return objectstore.Object{}, err
	}
	return objectstore.Object{
		Name:     name,
		Size:     aws.ToInt64(out.ContentLength),
		ETag:     aws.ToString(out.ETag),
		Modified: aws.ToTime(out.LastModified),
		Token:    tokenOf(out.Metadata),
	}, nil
}

func tokenOf(metadata map[string]string) string {
	token := metadata[tokenMetadata]
	if token == noToken {
		return ""
	}
	return token
}

func (s *store) List(ctx context.Context, prefix string) ([]objectstore.Object, error) {
	var list []objectstore.Object
	err := s.each(ctx, prefix, func(o objectstore.Object) error {
		if !strings.HasPrefix(o.Name, objectstore.WorkDir+"/") {
			list = append(list, o)
		}
		return nil
	})
	if err != nil {
		return nil, s.errorf(ctx, "list", prefix, err)
	}
	return list, nil
}

// each calls f for every object whose name starts with prefix, sorted by name
// (S3 lists keys in the order of their UTF-8 bytes).
func (s *store) each(ctx context.Context, prefix string, f func(objectstore.Object) error) error {
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: s.key(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, o := range page.Contents {
			name := strings.TrimPrefix(aws.ToString(o.Key), s.prefix)
			if name == "" || strings.HasSuffix(name, "/") { // consoles write these as folders
				continue
			}
			err := f(objectstore.Object{Name: name, Size: aws.ToInt64(o.Size), ETag: aws.ToString(o.ETag), Modified: aws.ToTime(o.LastModified)})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *store) Put(ctx context.Context, name string, body []byte) error {
	err := objectstore.CheckName(name)
	if err == nil {
		err = s.put(ctx, name, body)
	}
	if err != nil {
		return s.errorf(ctx, "write", name, err)
	}
	return nil
}

func (s *store) put(ctx context.Context, name string, body []byte) error {
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

func (s *store) Remove(ctx context.Context, name string) error {
	err := objectstore.CheckName(name)
	if err == nil {
		err = s.remove(ctx, name)
	}
	if err != nil {
		return s.errorf(ctx, "remove", name, err)
	}
	return nil
}

func (s *store) remove(ctx context.Context, name string) error {
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: s.key(name)})
	if hasCode(err, "NoSuchKey") {
		return nil
	}
	return err
}
