package dir

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"sync"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

// An unfinished upload is a folder in WorkDir. Its lock is a flock on a file in
// it, so that it ends with the process.
const (
	uploadFile = "upload.json" // a record; written last, so that the other files exist when it does
	dataFile   = "data"        // the content, at the full size of the object
	partsFile  = "parts"       // one byte per part: 1 when it is on the disk
	stateFile  = "state"       // SaveState
)

// A record describes the upload in a folder of WorkDir.
type record struct {
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	PartSize int64  `json:"partSize"`
	Token    string `json:"token"`
}

func newRecord(name string, o objectstore.UploadOptions) record {
	return record{Name: name, Size: o.Size, PartSize: o.PartSize, Token: o.Token}
}

type upload struct {
	store *store
	root  *os.Root
	name  string
	work  string // its folder in WorkDir
	o     objectstore.UploadOptions

	lock, data, parts *os.File

	mu     sync.Mutex
	stored map[int]int64
	state  []byte
}

func (d *store) Upload(ctx context.Context, name string, o objectstore.UploadOptions) (objectstore.Upload, error) {
	u, err := d.upload(ctx, name, o)
	if err != nil {
		return nil, d.errorf("write", name, err)
	}
	return u, nil
}

func (d *store) upload(ctx context.Context, name string, o objectstore.UploadOptions) (*upload, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	root, err := d.begin(ctx, name, true)
	if err != nil {
		return nil, err
	}
	work := path.Join(objectstore.WorkDir, objectstore.WorkName(name))
	lock, err := lockDir(root, work)
	if err != nil {
		return nil, err
	}
	u := &upload{store: d, root: root, name: name, work: work, o: o, lock: lock, stored: map[int]int64{}}
	err = u.resume()
	if errors.Is(err, errNoUpload) {
		err = u.begin()
	}
	if err != nil {
		_ = u.Close()
		return nil, err
	}
	return u, nil
}

func (u *upload) openFiles(flags int) error {
	var err error
	if u.data, err = u.root.OpenFile(path.Join(u.work, dataFile), os.O_RDWR|flags, 0o644); err != nil {
		return err
	}
	u.parts, err = u.root.OpenFile(path.Join(u.work, partsFile), os.O_RDWR|flags, 0o644)
	return err
}

// replace writes a file of the work folder in one step.
func (u *upload) replace(file string, body []byte) error {
	name := path.Join(u.work, file)
	if err := writeSync(u.root, name+".new", body); err != nil {
		return err
	}
	return u.root.Rename(name+".new", name)
}

func (u *upload) Stored() map[int]int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	m := make(map[int]int64, len(u.stored))
	for n, size := range u.stored {
		m[n] = size
	}
	return m
}

func (u *upload) State() []byte { return u.state }

func (u *upload) SaveState(ctx context.Context, state []byte) error {
	err := ctx.Err()
	if err == nil {
		err = u.replace(stateFile, state)
	}
	if err != nil {
		return u.store.errorf("write", u.name, err)
	}
	u.state = append([]byte{}, state...)
	return nil
}

func (u *upload) ReadPart(ctx context.Context, number int) (io.ReadCloser, error) {
	u.mu.Lock()
	size, ok := u.stored[number]
	u.mu.Unlock()
	if !ok {
		return nil, fault.Errorf(fault.NotFound, "cannot read part %d of file %q: it is not stored", number, u.name)
	}
	section := io.NewSectionReader(u.data, int64(number-1)*u.o.PartSize, size)
	wrap := func(err error) error { return u.store.errorf("read", u.name, err) }
	return objectstore.ExactReader(io.NopCloser(ctxReader{ctx, section}), size, wrap), nil
}

func (u *upload) WritePart(ctx context.Context, number int, body []byte) error {
	if err := u.writePart(ctx, number, body); err != nil {
		return u.store.errorf("write", u.name, err)
	}
	return nil
}

func (u *upload) writePart(ctx context.Context, number int, body []byte) error {
	if err := u.o.CheckPart(number, len(body)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := u.data.WriteAt(body, int64(number-1)*u.o.PartSize); err != nil {
		return err
	}
	// The mark must not reach the disk before the bytes it stands for.
	if err := syncData(u.data); err != nil {
		return err
	}
	if _, err := u.parts.WriteAt([]byte{1}, int64(number-1)); err != nil {
		return err
	}
	u.mu.Lock()
	u.stored[number] = int64(len(body))
	u.mu.Unlock()
	return nil
}

func (u *upload) Complete(ctx context.Context) (objectstore.Object, error) {
	o, err := u.complete(ctx)
	if err != nil {
		return objectstore.Object{}, u.store.errorf("write", u.name, err)
	}
	return o, nil
}

func (u *upload) complete(ctx context.Context) (objectstore.Object, error) {
	if err := ctx.Err(); err != nil {
		return objectstore.Object{}, err
	}
	u.mu.Lock()
	missing := u.o.Parts() - len(u.stored)
	u.mu.Unlock()
	if missing > 0 {
		return objectstore.Object{}, fault.Errorf(fault.Invalid, "%d of %d parts are missing", missing, u.o.Parts())
	}
	if err := u.data.Sync(); err != nil {
		return objectstore.Object{}, err
	}
	info, err := u.data.Stat()
	if err != nil {
		return objectstore.Object{}, err
	}
	if err := writeSeal(u.root, u.name, u.o.Token, info); err != nil {
		return objectstore.Object{}, err
	}
	if err := publish(u.root, path.Join(u.work, dataFile), u.name); err != nil {
		return objectstore.Object{}, err
	}
	u.drop()
	return objectstore.Object{Name: u.name, Size: info.Size(), Modified: info.ModTime(), Token: u.o.Token}, nil
}

func (u *upload) Abort(context.Context) error {
	if u.lock == nil {
		return nil
	}
	u.drop()
	return nil
}

// drop removes the work folder while its lock is held. AbortUploads removes what
// drop cannot.
func (u *upload) drop() {
	u.closeFiles()
	_ = removeDir(u.root, u.work)
	_ = u.Close()
}

func (u *upload) Close() error {
	u.closeFiles()
	if u.lock != nil {
		_ = u.lock.Close()
		u.lock = nil
	}
	return nil
}

func (u *upload) closeFiles() {
	if u.data != nil {
		_ = u.data.Close()
	}
	if u.parts != nil {
		_ = u.parts.Close()
	}
	u.data, u.parts = nil, nil
}
