package objectstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// An unfinished upload is a folder in WorkDir. Its lock is a flock on the
// folder, so it ends with the process.
const (
	uploadFile = "upload.json" // dirRecord; written last, so its presence means the rest is there
	dataFile   = "data"        // the object to be, at full length
	partsFile  = "parts"       // one byte per part: 1 when it is on the disk
	stateFile  = "state"       // SaveState
)

// dirRecord is what a folder in WorkDir is for.
type dirRecord struct {
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	PartSize int64  `json:"partSize"`
	Token    string `json:"token"`
}

type dirUpload struct {
	store *dirStore
	root  *os.Root
	name  string
	work  string // folder in WorkDir
	o     UploadOptions

	lock, data, parts *os.File

	mu     sync.Mutex
	stored map[int]int64
	state  []byte
}

func (d *dirStore) Upload(ctx context.Context, name string, o UploadOptions) (Upload, error) {
	u, err := d.upload(ctx, name, o)
	if err != nil {
		return nil, d.errorf("write", name, err)
	}
	return u, nil
}

func (d *dirStore) upload(ctx context.Context, name string, o UploadOptions) (*dirUpload, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	root, err := d.begin(ctx, name, true)
	if err != nil {
		return nil, err
	}
	work := path.Join(WorkDir, workName(name))
	lock, err := lockDir(root, work)
	if err != nil {
		return nil, err
	}
	u := &dirUpload{store: d, root: root, name: name, work: work, o: o, lock: lock, stored: map[int]int64{}}
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

var errNoUpload = errors.New("no upload to continue")

// resume opens what an earlier process left; errNoUpload if it is not usable.
func (u *dirUpload) resume() error {
	body, err := u.root.ReadFile(path.Join(u.work, uploadFile))
	if errors.Is(err, fs.ErrNotExist) {
		return errNoUpload
	}
	if err != nil {
		return err
	}
	var rec dirRecord
	want := dirRecord{Name: u.name, Size: u.o.Size, PartSize: u.o.PartSize, Token: u.o.Token}
	if json.Unmarshal(body, &rec) != nil || rec != want {
		return errNoUpload
	}
	if err := u.openFiles(0); err != nil {
		return errNoUpload
	}
	info, err := u.data.Stat()
	if err != nil || info.Size() != u.o.Size {
		return errNoUpload
	}
	marks := make([]byte, u.o.Parts())
	if _, err := u.parts.ReadAt(marks, 0); err != nil && !errors.Is(err, io.EOF) {
		return errNoUpload
	}
	for i, m := range marks {
		if m == 1 {
			u.stored[i+1] = u.o.PartLen(i + 1)
		}
	}
	u.state, err = u.root.ReadFile(path.Join(u.work, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// begin makes the files of a new upload, in place of what was there.
func (u *dirUpload) begin() error {
	u.closeFiles()
	clear(u.stored)
	u.state = nil
	for _, f := range []string{uploadFile, stateFile, partsFile, dataFile} {
		if err := u.root.Remove(path.Join(u.work, f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := u.openFiles(os.O_CREATE | os.O_EXCL); err != nil {
		return err
	}
	if err := reserve(u.data, u.o.Size); err != nil {
		return err
	}
	rec := dirRecord{Name: u.name, Size: u.o.Size, PartSize: u.o.PartSize, Token: u.o.Token}
	body, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	return u.replace(uploadFile, body)
}

func (u *dirUpload) openFiles(flags int) error {
	var err error
	if u.data, err = u.root.OpenFile(path.Join(u.work, dataFile), os.O_RDWR|flags, 0o644); err != nil {
		return err
	}
	u.parts, err = u.root.OpenFile(path.Join(u.work, partsFile), os.O_RDWR|flags, 0o644)
	return err
}

// replace writes a file of the work folder in one step.
func (u *dirUpload) replace(file string, body []byte) error {
	name := path.Join(u.work, file)
	if err := writeSync(u.root, name+".new", body); err != nil {
		return err
	}
	return u.root.Rename(name+".new", name)
}

func (u *dirUpload) Stored() map[int]int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	m := make(map[int]int64, len(u.stored))
	for n, size := range u.stored {
		m[n] = size
	}
	return m
}

func (u *dirUpload) State() []byte { return u.state }

func (u *dirUpload) SaveState(ctx context.Context, state []byte) error {
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

func (u *dirUpload) ReadPart(ctx context.Context, number int) (io.ReadCloser, error) {
	u.mu.Lock()
	size, ok := u.stored[number]
	u.mu.Unlock()
	if !ok {
		return nil, fault.Errorf(fault.NotFound, "cannot read part %d of file %q: it is not stored", number, u.name)
	}
	section := io.NewSectionReader(u.data, int64(number-1)*u.o.PartSize, size)
	wrap := func(err error) error { return u.store.errorf("read", u.name, err) }
	return &exactReader{r: io.NopCloser(ctxReader{ctx, section}), left: size, wrap: wrap}, nil
}

type ctxReader struct {
	ctx context.Context //nolint:containedctx // the reader's life is bound to it
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

func (u *dirUpload) WritePart(ctx context.Context, number int, body []byte) error {
	if err := u.writePart(ctx, number, body); err != nil {
		return u.store.errorf("write", u.name, err)
	}
	return nil
}

func (u *dirUpload) writePart(ctx context.Context, number int, body []byte) error {
	if err := u.o.checkPart(number, len(body)); err != nil {
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

func (u *dirUpload) Complete(ctx context.Context) (Object, error) {
	o, err := u.complete(ctx)
	if err != nil {
		return Object{}, u.store.errorf("write", u.name, err)
	}
	return o, nil
}

func (u *dirUpload) complete(ctx context.Context) (Object, error) {
	if err := ctx.Err(); err != nil {
		return Object{}, err
	}
	u.mu.Lock()
	missing := u.o.Parts() - len(u.stored)
	u.mu.Unlock()
	if missing > 0 {
		return Object{}, fault.Errorf(fault.Invalid, "%d of %d parts are missing", missing, u.o.Parts())
	}
	if err := u.data.Sync(); err != nil {
		return Object{}, err
	}
	info, err := u.data.Stat()
	if err != nil {
		return Object{}, err
	}
	if err := writeSeal(u.root, u.name, u.o.Token, info); err != nil {
		return Object{}, err
	}
	if err := publish(u.root, path.Join(u.work, dataFile), u.name); err != nil {
		return Object{}, err
	}
	u.drop()
	return Object{Name: u.name, Size: info.Size(), Modified: info.ModTime(), Token: u.o.Token}, nil
}

func (u *dirUpload) Abort(context.Context) error {
	if u.lock == nil {
		return nil
	}
	u.drop()
	return nil
}

// drop removes the work folder while its lock is held. What cannot be removed
// is left to AbortUploads.
func (u *dirUpload) drop() {
	_ = u.root.RemoveAll(u.work)
	_ = u.Close()
}

func (u *dirUpload) Close() error {
	u.closeFiles()
	if u.lock != nil {
		_ = u.lock.Close()
		u.lock = nil
	}
	return nil
}

func (u *dirUpload) closeFiles() {
	if u.data != nil {
		_ = u.data.Close()
	}
	if u.parts != nil {
		_ = u.parts.Close()
	}
	u.data, u.parts = nil, nil
}

// staleTemp is the age from which a temporary file of Put cannot be in use.
const staleTemp = time.Hour

func (d *dirStore) AbortUploads(ctx context.Context, keep func(name string) bool) error {
	root, err := d.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = d.abortUploads(ctx, root, keep)
	}
	if err != nil {
		return d.errorf("clean", WorkDir, err)
	}
	return nil
}

func (d *dirStore) abortUploads(ctx context.Context, root *os.Root, keep func(name string) bool) error {
	entries, err := fs.ReadDir(root.FS(), WorkDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := path.Join(WorkDir, e.Name())
		if e.Name() == path.Base(sealDir) {
			continue
		}
		if !e.IsDir() {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleTemp {
				_ = root.Remove(name)
			}
			continue
		}
		var rec dirRecord
		body, err := root.ReadFile(path.Join(name, uploadFile))
		if err == nil && json.Unmarshal(body, &rec) == nil && keep != nil && keep(rec.Name) {
			continue
		}
		lock, err := lockDir(root, name)
		if fault.Is(err, fault.Conflict) {
			continue // its writer lives
		}
		if err != nil {
			return err
		}
		err = root.RemoveAll(name)
		_ = lock.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// lockDir makes a folder and locks it. Conflict if another process, or another
// Upload of this one, holds the lock.
func lockDir(root *os.Root, dir string) (*os.File, error) {
	for range 100 {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		f, err := root.Open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := flock(f); err != nil {
			_ = f.Close()
			return nil, err
		}
		// Its last holder may have removed the folder meanwhile.
		mine, err1 := f.Stat()
		there, err2 := root.Stat(dir)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			return f, nil
		}
		_ = f.Close()
	}
	return nil, fault.Errorf(fault.Conflict, "cannot lock folder %q: others keep removing it", dir)
}

var errLocked = fault.As(fault.Conflict, fmt.Errorf("another writer of the same file is at work"))
