package s3

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/objectstore"
)

// abortAll aborts every unfinished upload of one key and removes the record.
func (s *store) abortAll(ctx context.Context, name string) error {
	key := s.key(name)
	pages := s3.NewListMultipartUploadsPaginator(s.client, &s3.ListMultipartUploadsInput{Bucket: &s.bucket, Prefix: key})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, up := range page.Uploads {
			if aws.ToString(up.Key) != *key {
				continue
			}
			_, err := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &s.bucket, Key: key, UploadId: up.UploadId})
			if err != nil && !hasCode(err, "NoSuchUpload") {
				return err
			}
		}
	}
	return s.remove(ctx, recordName(name))
}

func (s *store) AbortUploads(ctx context.Context, keep func(name string) bool) error {
	var records []string
	err := s.each(ctx, uploadsDir+"/", func(o objectstore.Object) error {
		records = append(records, o.Name)
		return nil
	})
	for _, r := range records {
		if err != nil {
			break
		}
		err = s.abortOne(ctx, r, keep)
	}
	if err != nil {
		return s.errorf(ctx, "clean", uploadsDir, err)
	}
	return nil
}

// abortOne aborts the uploads of the object that a record names.
func (s *store) abortOne(ctx context.Context, record string, keep func(name string) bool) error {
	rec, found, err := s.readRecord(ctx, record)
	switch {
	case err != nil || !found:
		return err
	case recordName(rec.Name) != record || objectstore.CheckName(rec.Name) != nil:
		return s.remove(ctx, record) // damaged, or not ours
	case keep != nil && keep(rec.Name):
		return nil
	}
	return s.abortAll(ctx, rec.Name)
}
