package s3

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sort"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

type upload struct {
	store *store
	rec   record
	o     objectstore.UploadOptions

	mu    sync.Mutex
	parts map[int]types.CompletedPart
}

func (s *store) Upload(ctx context.Context, name string, o objectstore.UploadOptions) (objectstore.Upload, error) {
	u, err := s.upload(ctx, name, o)
	if err != nil {
		return nil, s.errorf(ctx, "write", name, err)
	}
	return u, nil
}

func (s *store) upload(ctx context.Context, name string, o objectstore.UploadOptions) (*upload, error) {
	if err := errors.Join(objectstore.CheckName(name), o.Check()); err != nil {
		return nil, err
	}
	rec, found, err := s.readRecord(ctx, recordName(name))
	if err != nil {
		return nil, err
	}
	if found {
		u, err := s.resume(ctx, name, rec, o)
		if !errors.Is(err, errNoUpload) {
			return u, err
		}
		if err := s.abortAll(ctx, name); err != nil {
			return nil, err
		}
	}
	u := &upload{store: s, rec: newRecord(name, o), o: o, parts: map[int]types.CompletedPart{}}
	return u, u.begin(ctx)
}

func (u *upload) begin(ctx context.Context) error {
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
	// A cancelled call may still create an upload after the next process has
	// looked for one. So begin waits for the answer and records it.
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

// beginTimeout bounds how long begin delays a cancelled caller.
const beginTimeout = 30 * time.Second

func (u *upload) Stored() map[int]int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	m := make(map[int]int64, len(u.parts))
	for n := range u.parts {
		m[n] = u.o.PartLen(n)
	}
	return m
}

func (u *upload) State() []byte { return u.rec.State }

func (u *upload) SaveState(ctx context.Context, state []byte) error {
	u.rec.State = append([]byte{}, state...)
	if err := u.writeRecord(ctx); err != nil {
		return u.store.errorf(ctx, "write", u.rec.Name, err)
	}
	return nil
}

func (u *upload) ReadPart(context.Context, int) (io.ReadCloser, error) {
	return nil, fault.Errorf(fault.Unsupported, "cannot read a part of unfinished object %q: S3 has no such call", u.rec.Name)
}

func (u *upload) WritePart(ctx context.Context, number int, body []byte) error {
	if err := u.writePart(ctx, number, body); err != nil {
		return u.store.errorf(ctx, "write", u.rec.Name, err)
	}
	return nil
}

func (u *upload) writePart(ctx context.Context, number int, body []byte) error {
	if err := u.o.CheckPart(number, len(body)); err != nil {
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

// crc returns the CRC32 of a part in the form that S3 expects.
func crc(body []byte) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
}

// unsignedBody leaves the body out of the signature, which saves a SHA-256 over
// every byte. The service checks the signed CRC32 instead.
func unsignedBody(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware)
}

func (u *upload) Complete(ctx context.Context) (objectstore.Object, error) {
	o, err := u.complete(ctx)
	if err != nil {
		return objectstore.Object{}, u.store.errorf(ctx, "write", u.rec.Name, err)
	}
	return o, nil
}

func (u *upload) complete(ctx context.Context) (objectstore.Object, error) {
	u.mu.Lock()
	parts := make([]types.CompletedPart, 0, len(u.parts))
	for _, p := range u.parts {
		parts = append(parts, p)
	}
	u.mu.Unlock()
	if missing := u.o.Parts() - len(parts); missing > 0 {
		return objectstore.Object{}, fault.Errorf(fault.Invalid, "%d of %d parts are missing", missing, u.o.Parts())
	}
	sort.Slice(parts, func(i, j int) bool { return *parts[i].PartNumber < *parts[j].PartNumber })
	_, err := u.store.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket:          &u.store.bucket,
		Key:             u.store.key(u.rec.Name),
		UploadId:        &u.rec.UploadID,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	}, patient)
	// A call can complete the upload and lose its answer; the retry then finds
	// no upload. So the object decides.
	o, statErr := u.store.stat(ctx, u.rec.Name)
	switch {
	case statErr == nil && o.Size == u.o.Size && o.Token == u.o.Token && (err == nil || hasCode(err, "NoSuchUpload")):
		// The SDK retries the call that begins an upload, so there may be two.
		return o, u.store.abortAll(ctx, u.rec.Name)
	case err != nil:
		return objectstore.Object{}, err
	case statErr != nil:
		return objectstore.Object{}, statErr
	}
	return objectstore.Object{}, fault.Errorf(fault.Conflict, "another writer replaced it: it has %d bytes and token %q", o.Size, o.Token)
}

func (u *upload) Abort(ctx context.Context) error {
	if err := u.store.abortAll(ctx, u.rec.Name); err != nil {
		return u.store.errorf(ctx, "abort the upload of", u.rec.Name, err)
	}
	return nil
}

func (u *upload) Close() error { return nil }
