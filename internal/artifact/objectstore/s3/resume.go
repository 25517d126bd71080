package s3

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
)

// errNoUpload means that there is no unfinished upload to continue.
var errNoUpload = errors.New("no upload to continue")

// resume continues the unfinished upload that rec describes. errNoUpload if that
// upload has other options or no longer exists.
func (s *store) resume(ctx context.Context, name string, rec record, o objectstore.UploadOptions) (*upload, error) {
	if rec.UploadID == "" || !rec.describes(name, o) {
		return nil, errNoUpload
	}
	u := &upload{store: s, rec: rec, o: o, parts: map[int]types.CompletedPart{}}
	err := u.listParts(ctx)
	if hasCode(err, "NoSuchUpload") {
		return nil, errNoUpload
	}
	if err != nil {
		return nil, err
	}
	return u, nil
}

// listParts reads which parts the service has. It ignores a part of a wrong
// size, so that the caller writes it again.
func (u *upload) listParts(ctx context.Context) error {
	pages := s3.NewListPartsPaginator(u.store.client, &s3.ListPartsInput{
		Bucket: &u.store.bucket, Key: u.store.key(u.rec.Name), UploadId: &u.rec.UploadID,
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, p := range page.Parts {
			number := int(aws.ToInt32(p.PartNumber))
			if number < 1 || number > u.o.Parts() || aws.ToInt64(p.Size) != u.o.PartLen(number) {
				continue
			}
			u.parts[number] = types.CompletedPart{PartNumber: p.PartNumber, ETag: p.ETag, ChecksumCRC32: p.ChecksumCRC32}
		}
	}
	return nil
}
