package fetch

import (
	"context"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
)

// A patientStore retries calls of a store that fail with a Transient error. It
// does not retry Open: its callers retry reads as a whole.
type patientStore struct {
	objectstore.Store
	retrier
}

func (p *patientStore) Stat(ctx context.Context, name string) (o objectstore.Object, err error) {
	err = p.retry(ctx, func() (err error) {
		o, err = p.Store.Stat(ctx, name)
		return err
	})
	return o, err
}

func (p *patientStore) List(ctx context.Context, prefix string) (list []objectstore.Object, err error) {
	err = p.retry(ctx, func() (err error) {
		list, err = p.Store.List(ctx, prefix)
		return err
	})
	return list, err
}

func (p *patientStore) Put(ctx context.Context, name string, body []byte) error {
	return p.retry(ctx, func() error { return p.Store.Put(ctx, name, body) })
}

func (p *patientStore) Remove(ctx context.Context, name string) error {
	return p.retry(ctx, func() error { return p.Store.Remove(ctx, name) })
}

func (p *patientStore) AbortUploads(ctx context.Context, keep func(string) bool) error {
	return p.retry(ctx, func() error { return p.Store.AbortUploads(ctx, keep) })
}

func (p *patientStore) Upload(ctx context.Context, name string, o objectstore.UploadOptions) (objectstore.Upload, error) {
	var up objectstore.Upload
	err := p.retry(ctx, func() (err error) {
		up, err = p.Store.Upload(ctx, name, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &patientUpload{Upload: up, retrier: p.retrier}, nil
}

type patientUpload struct {
	objectstore.Upload
	retrier
}

func (p *patientUpload) WritePart(ctx context.Context, number int, body []byte) error {
	return p.retry(ctx, func() error { return p.Upload.WritePart(ctx, number, body) })
}

func (p *patientUpload) Complete(ctx context.Context) (o objectstore.Object, err error) {
	err = p.retry(ctx, func() (err error) {
		o, err = p.Upload.Complete(ctx)
		return err
	})
	return o, err
}
