package objectstore

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"path"
	"sort"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/gorizond/koldun/internal/fault"
)

// uploadsDir holds one record for each unfinished upload: S3 itself tells the
// keys of unfinished uploads, but neither their content nor who began them.
const uploadsDir = WorkDir + "/uploads"

// s3Record is written before the upload is begun (without ID) and again when
// it has its ID, so that no upload of ours is ever without one.
type s3Record struct {
	Name     string `json:"name"`
	UploadID string `json:"uploadID,omitempty"`
	Size     int64  `json:"size"`
	PartSize int64  `json:"partSize"`
	Token    string `json:"token"`
	State    []byte `json:"state,omitempty"`
}

type s3Upload struct {
	store *s3Store
	rec   s3Record
	o     UploadOptions

	mu    sync.Mutex
	parts map[int]types.CompletedPart
}

func recordName(name string) string { return path.Join(uploadsDir, workName(name)+".json") }

func (s *s3Store) Upload(ctx context.Context, name string, o UploadOptions) (Upload, error) {
	u, err := s.upload(ctx, name, o)
	if err != nil {
		return nil, s.errorf(ctx, "write", name, err)
	}
	return u, nil
}

func (s *s3Store) upload(ctx context.Context, name string, o UploadOptions) (*s3Upload, error) {
	if err := errors.Join(checkName(name), o.check()); err != nil {
		return nil, err
	}
	rec, found, err := s.readRecord(ctx, recordName(name))
	if err != nil {
		return nil, err
	}
	want := s3Record{Name: name, Size: o.Size, PartSize: o.PartSize, Token: o.Token}
	u := &s3Upload{store: s, rec: want, o: o, parts: map[int]types.CompletedPart{}}
	if found && rec.UploadID != "" && rec.Name == name && rec.Size == o.Size && rec.PartSize == o.PartSize && rec.Token == o.Token {
		u.rec = rec
		err := u.listParts(ctx)
		if err == nil {
			return u, nil
		}
		if !hasCode(err, "NoSuchUpload") {
			return nil, err
		}
		clear(u.parts)
		u.rec = want
	}
	if found {
		if err := s.abortAll(ctx, name); err != nil {
			return nil, err
		}
	}
	return u, u.begin(ctx)
}

func (u *s3Upload) begin(ctx context.Context) error {
	if err := u.writeRecord(ctx); err != nil {
		return err
	}
	in := &s3.CreateMultipartUploadInput{
		Bucket:            &u.store.bucket,
		Key:               u.store.key(u.rec.Name),
		Metadata:          map[string]string{tokenMetadata: u.o.Token},
		ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	}
	if u.store.plain {
		in.ChecksumAlgorithm = ""
	}
	// A call that is given up halfway may yet make an upload, after whoever
	// comes next has looked for it. So it is waited for, and noted down.
	patiently, cancel := context.WithTimeout(context.WithoutCancel(ctx), beginTimeout)
	defer cancel()
	out, err := u.store.client.CreateMultipartUpload(patiently, in)
	if err != nil {
		return err
	}
	u.rec.UploadID = aws.ToString(out.UploadId)
	if err := u.writeRecord(patiently); err != nil {
		return err
	}
	return ctx.Err()
}

// beginTimeout bounds how long the beginning of an upload holds up an end.
const beginTimeout = 30 * time.Second

// listParts reads which parts the service has. A part of a wrong size is
// written again.
func (u *s3Upload) listParts(ctx context.Context) error {
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

func (u *s3Upload) Stored() map[int]int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	m := make(map[int]int64, len(u.parts))
	for n := range u.parts {
		m[n] = u.o.PartLen(n)
	}
	return m
}

func (u *s3Upload) State() []byte { return u.rec.State }

func (u *s3Upload) SaveState(ctx context.Context, state []byte) error {
	u.rec.State = append([]byte{}, state...)
	if err := u.writeRecord(ctx); err != nil {
		return u.store.errorf(ctx, "write", u.rec.Name, err)
	}
	return nil
}

func (u *s3Upload) ReadPart(context.Context, int) (io.ReadCloser, error) {
	return nil, fault.Errorf(fault.Unsupported, "cannot read a part of unfinished object %q: S3 has no such call", u.rec.Name)
}

func (u *s3Upload) WritePart(ctx context.Context, number int, body []byte) error {
	if err := u.writePart(ctx, number, body); err != nil {
		return u.store.errorf(ctx, "write", u.rec.Name, err)
	}
	return nil
}

func (u *s3Upload) writePart(ctx context.Context, number int, body []byte) error {
	if err := u.o.checkPart(number, len(body)); err != nil {
		return err
	}
	lent := &lentBody{r: bytes.NewReader(body)}
	defer lent.detach()
	in := &s3.UploadPartInput{
		Bucket:     &u.store.bucket,
		Key:        u.store.key(u.rec.Name),
		UploadId:   &u.rec.UploadID,
		PartNumber: aws.Int32(int32(number)),
		Body:       lent,
	}
	var opts []func(*s3.Options)
	if !u.store.plain {
		in.ChecksumCRC32 = aws.String(crc(body))
		opts = append(opts, unsignedBody)
	}
	out, err := u.store.client.UploadPart(ctx, in, opts...)
	if err != nil {
		return err
	}
	done := types.CompletedPart{PartNumber: aws.Int32(int32(number)), ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32}
	u.mu.Lock()
	u.parts[number] = done
	u.mu.Unlock()
	return nil
}

// crc is the CRC32 of a part as S3 writes it.
func crc(body []byte) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
}

// unsignedBody leaves the body out of the signature, which would cost a second
// SHA-256 over every byte. The service checks the signed CRC32 instead.
func unsignedBody(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware)
}

func (u *s3Upload) Complete(ctx context.Context) (Object, error) {
	o, err := u.complete(ctx)
	if err != nil {
		return Object{}, u.store.errorf(ctx, "write", u.rec.Name, err)
	}
	return o, nil
}

func (u *s3Upload) complete(ctx context.Context) (Object, error) {
	u.mu.Lock()
	parts := make([]types.CompletedPart, 0, len(u.parts))
	for _, p := range u.parts {
		parts = append(parts, p)
	}
	u.mu.Unlock()
	if missing := u.o.Parts() - len(parts); missing > 0 {
		return Object{}, fault.Errorf(fault.Invalid, "%d of %d parts are missing", missing, u.o.Parts())
	}
	sort.Slice(parts, func(i, j int) bool { return *parts[i].PartNumber < *parts[j].PartNumber })
	_, err := u.store.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket:          &u.store.bucket,
		Key:             u.store.key(u.rec.Name),
		UploadId:        &u.rec.UploadID,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	}, patient)
	// The answer to a call that did complete the upload may have been lost, and
	// the next attempt then finds no upload: the object decides.
	o, statErr := u.store.stat(ctx, u.rec.Name)
	switch {
	case statErr == nil && o.Size == u.o.Size && o.Token == u.o.Token && (err == nil || hasCode(err, "NoSuchUpload")):
		// The call that began the upload may have been answered only at its
		// second try, and have begun two.
		return o, u.store.abortAll(ctx, u.rec.Name)
	case err != nil:
		return Object{}, err
	case statErr != nil:
		return Object{}, statErr
	}
	return Object{}, fault.Errorf(fault.Conflict, "somebody replaced it at once: it has %d bytes and token %q", o.Size, o.Token)
}

func (u *s3Upload) Abort(ctx context.Context) error {
	if err := u.store.abortAll(ctx, u.rec.Name); err != nil {
		return u.store.errorf(ctx, "abort the upload of", u.rec.Name, err)
	}
	return nil
}

func (u *s3Upload) Close() error { return nil }

func (u *s3Upload) writeRecord(ctx context.Context) error {
	body, err := json.Marshal(u.rec)
	if err != nil {
		return err
	}
	return u.store.put(ctx, recordName(u.rec.Name), body)
}

// maxRecord bounds what is read of a record.
const maxRecord = 1 << 20

// readRecord reads one record. What is not a record of ours counts as one
// without an upload.
func (s *s3Store) readRecord(ctx context.Context, name string) (s3Record, bool, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: s.key(name)})
	if hasCode(err, "NoSuchKey") {
		return s3Record{}, false, nil
	}
	if err != nil {
		return s3Record{}, false, err
	}
	defer func() { _ = out.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(out.Body, maxRecord))
	if err != nil {
		return s3Record{}, false, fault.As(fault.Transient, err)
	}
	var rec s3Record
	if json.Unmarshal(body, &rec) != nil {
		return s3Record{}, true, nil
	}
	return rec, true, nil
}

// abortAll aborts every unfinished upload of one key and removes the record.
func (s *s3Store) abortAll(ctx context.Context, name string) error {
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

func (s *s3Store) AbortUploads(ctx context.Context, keep func(name string) bool) error {
	var records []string
	err := s.each(ctx, uploadsDir+"/", func(o Object) error {
		records = append(records, o.Name)
		return nil
	})
	for _, r := range records {
		if err != nil {
			break
		}
		err = s.abortRecord(ctx, r, keep)
	}
	if err != nil {
		return s.errorf(ctx, "clean", uploadsDir, err)
	}
	return nil
}

func (s *s3Store) abortRecord(ctx context.Context, record string, keep func(name string) bool) error {
	rec, found, err := s.readRecord(ctx, record)
	switch {
	case err != nil || !found:
		return err
	case recordName(rec.Name) != record || checkName(rec.Name) != nil:
		return s.remove(ctx, record) // damaged, or not ours
	case keep != nil && keep(rec.Name):
		return nil
	}
	return s.abortAll(ctx, rec.Name)
}
