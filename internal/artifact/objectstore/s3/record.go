package s3

import (
	"context"
	"encoding/json"
	"io"
	"path"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

// uploadsDir holds one record for each unfinished upload: S3 lists the keys of
// unfinished uploads, but neither their content nor their owner.
const uploadsDir = objectstore.WorkDir + "/uploads"

// A record describes an unfinished upload. It is written before the upload is
// begun (without UploadID) and again with its UploadID, so that every upload of
// this package has one.
type record struct {
	Name     string `json:"name"`
	UploadID string `json:"uploadID,omitempty"`
	Size     int64  `json:"size"`
	PartSize int64  `json:"partSize"`
	Token    string `json:"token"`
	State    []byte `json:"state,omitempty"`
}

func newRecord(name string, o objectstore.UploadOptions) record {
	return record{Name: name, Size: o.Size, PartSize: o.PartSize, Token: o.Token}
}

// describes reports whether the record is of an upload of name with options o.
func (r record) describes(name string, o objectstore.UploadOptions) bool {
	return r.Name == name && r.Size == o.Size && r.PartSize == o.PartSize && r.Token == o.Token
}

func recordName(name string) string { return path.Join(uploadsDir, objectstore.WorkName(name)+".json") }

func (u *upload) writeRecord(ctx context.Context) error {
	body, err := json.Marshal(u.rec)
	if err != nil {
		return err
	}
	return u.store.put(ctx, recordName(u.rec.Name), body)
}

// maxRecord is the most that is read of a record, in bytes.
const maxRecord = 1 << 20

// readRecord reads one record and reports whether there is one. An object that
// is no valid record reads as the zero record.
func (s *store) readRecord(ctx context.Context, name string) (record, bool, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: s.key(name)})
	if hasCode(err, "NoSuchKey") || s.absent(ctx, name, err) {
		return record{}, false, nil
	}
	if err != nil {
		return record{}, false, err
	}
	defer func() { _ = out.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(out.Body, maxRecord))
	if err != nil {
		return record{}, false, fault.As(fault.Transient, err)
	}
	var rec record
	if json.Unmarshal(body, &rec) != nil {
		return record{}, true, nil
	}
	return rec, true, nil
}
