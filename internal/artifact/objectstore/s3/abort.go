package s3

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

// abortRounds bounds how often abortAll looks for uploads.
const abortRounds = 10

// abortPause is the pause between two rounds. A part that is on its way when its
// upload is aborted may be stored after that, and some services then have the upload
// again, with the space it takes.
const abortPause = 50 * time.Millisecond

// abortAll aborts the unfinished uploads of one key until none is left, and removes
// the record.
func (s *store) abortAll(ctx context.Context, name string) error {
	for range abortRounds {
		n, err := s.abortListed(ctx, name)
		if err != nil {
			return err
		}
		if n == 0 {
			return s.remove(ctx, recordName(name))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(abortPause):
		}
	}
	return fault.Errorf(fault.Conflict, "there were new uploads %d times after all had been aborted: another process writes the object", abortRounds)
}

// abortListed aborts the uploads of one key that the service lists now, and returns
// their number.
func (s *store) abortListed(ctx context.Context, name string) (n int, err error) {
	key := s.key(name)
	pages := s3.NewListMultipartUploadsPaginator(s.client, &s3.ListMultipartUploadsInput{Bucket: &s.bucket, Prefix: key})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return n, err
		}
		for _, up := range page.Uploads {
			if aws.ToString(up.Key) != *key {
				continue
			}
			n++
			_, err := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &s.bucket, Key: key, UploadId: up.UploadId})
			if err != nil && !hasCode(err, "NoSuchUpload") {
				return n, err
			}
		}
	}
	return n, nil
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
