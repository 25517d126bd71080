package s3

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

func (s *store) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	r, err := s.open(ctx, name, offset, length)
	if err != nil {
		return nil, s.errorf(ctx, "read", name, err)
	}
	return r, nil
}

func (s *store) open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if err := objectstore.CheckName(name); err != nil {
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
	if hasCode(err, "InvalidRange") { // S3 also answers so for a range of an empty object
		r, endErr := s.openEnd(ctx, name, offset)
		if endErr == nil && length > 0 {
			return objectstore.ExactReader(r, length, s.readError(ctx, name)), nil
		}
		return r, endErr
	}
	if s.absent(ctx, name, err) {
		return nil, fault.Errorf(fault.NotFound, "it does not exist")
	}
	if err != nil {
		return nil, err
	}
	if length < 0 {
		length = aws.ToInt64(out.ContentLength)
	}
	return objectstore.ExactReader(out.Body, length, s.readError(ctx, name)), nil
}

// openEnd returns an empty reader of an object that has at least offset bytes.
func (s *store) openEnd(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	o, err := s.stat(ctx, name)
	if err != nil {
		return nil, err
	}
	if offset > o.Size {
		return nil, fault.Errorf(fault.Invalid, "offset %d is outside its %d bytes", offset, o.Size)
	}
	return io.NopCloser(bytes.NewReader(nil)), nil
}

func (s *store) readError(ctx context.Context, name string) func(error) error {
	return func(err error) error {
		if fault.KindOf(err) == fault.Internal && ctx.Err() == nil {
			err = fault.As(fault.Transient, err) // only a broken connection ends a body early
		}
		return s.errorf(ctx, "read", name, err)
	}
}
