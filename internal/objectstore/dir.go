package objectstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/modelref"
)

// dirStore keeps objects as files below one folder. All access goes through an
// os.Root, so neither names nor symbolic links lead out of it.
type dirStore struct {
	path string // absolute

	mu   sync.Mutex
	root *os.Root // nil until first needed
}

// OpenDir opens a folder as a store. The folder is made by the first write;
// before that it counts as empty.
func OpenDir(path string) (Store, error) {
	if path == "" {
		return nil, fault.Errorf(fault.Invalid, "cannot open folder: no path given")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open folder %q: %w", path, err)
	}
	return &dirStore{path: abs}, nil
}

func (d *dirStore) URL() string {
	return modelref.Ref{Scheme: modelref.File, Path: d.path}.String()
}

// open gives the root; without it fs.ErrNotExist, unless create makes it.
func (d *dirStore) open(create bool) (*os.Root, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.root != nil {
		return d.root, nil
	}
	root, err := os.OpenRoot(d.path)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err := os.MkdirAll(d.path, 0o755); err != nil {
			return nil, err
		}
		root, err = os.OpenRoot(d.path)
	}
	if err != nil {
		if info, statErr := os.Stat(d.path); statErr == nil && !info.IsDir() {
			err = fault.Errorf(fault.Conflict, "%q is a file: name a folder", d.path) // OpenRoot has no error for it
		}
		return nil, err
	}
	d.root = root
	return root, nil
}

func (d *dirStore) Stat(ctx context.Context, name string) (Object, error) {
	o, err := d.stat(ctx, name)
	if err != nil {
		return Object{}, d.errorf("stat", name, err)
	}
	return o, nil
}

func (d *dirStore) stat(ctx context.Context, name string) (Object, error) {
	root, err := d.begin(ctx, name, false)
	if err != nil {
		return Object{}, err
	}
	info, err := root.Stat(name)
	if err != nil {
		return Object{}, err
	}
	if !info.Mode().IsRegular() {
		return Object{}, fs.ErrNotExist
	}
	return Object{Name: name, Size: info.Size(), Modified: info.ModTime(), Token: readSeal(root, name, info)}, nil
}

func (d *dirStore) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	r, err := d.openFile(ctx, name, offset, length)
	if err != nil {
		return nil, d.errorf("read", name, err)
	}
	return r, nil
}

func (d *dirStore) openFile(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	root, err := d.begin(ctx, name, false)
	if err != nil {
		return nil, err
	}
	// A pipe must not keep the opener waiting for somebody to write into it.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err == nil && (offset < 0 || offset > info.Size()) {
		err = fault.Errorf(fault.Invalid, "offset %d is outside its %d bytes", offset, info.Size())
	}
	if err == nil {
		_, err = f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	if length < 0 {
		length = info.Size() - offset
	}
	wrap := func(err error) error { return d.errorf("read", name, err) }
	return &exactReader{r: ctxFile{ctx, f}, left: length, wrap: wrap}, nil
}

// ctxFile stops reading when ctx ends.
type ctxFile struct {
	ctx context.Context //nolint:containedctx // the reader's life is bound to it
	*os.File
}

func (c ctxFile) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.File.Read(p)
}

func (d *dirStore) List(ctx context.Context, prefix string) ([]Object, error) {
	list, err := d.list(ctx, prefix)
	if err != nil {
		return nil, d.errorf("list", prefix, err)
	}
	return list, nil
}

func (d *dirStore) list(ctx context.Context, prefix string) ([]Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	root, err := d.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	start := "."
	if i := strings.LastIndexByte(prefix, '/'); i > 0 {
		start = prefix[:i]
	}
	if !fs.ValidPath(start) {
		return nil, nil
	}
	var list []Object
	err = fs.WalkDir(root.FS(), start, func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist): // vanished while walking, or never there
			return nil
		case err != nil:
			return err
		case name == WorkDir:
			return fs.SkipDir
		case e.IsDir() || !strings.HasPrefix(name, prefix):
			return nil
		}
		info, err := root.Stat(name) // follows links inside the root
		switch dirKind(err) {
		case fault.NotFound, fault.Invalid: // vanished, or a link to nowhere or outside
			return nil
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		list = append(list, Object{Name: name, Size: info.Size(), Modified: info.ModTime()})
		return nil
	})
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list, err
}

func (d *dirStore) Put(ctx context.Context, name string, body []byte) error {
	if err := d.put(ctx, name, body); err != nil {
		return d.errorf("write", name, err)
	}
	return nil
}

func (d *dirStore) put(ctx context.Context, name string, body []byte) error {
	root, err := d.begin(ctx, name, true)
	if err != nil {
		return err
	}
	tmp, err := tempName()
	if err != nil {
		return err
	}
	if err := root.MkdirAll(WorkDir, 0o755); err != nil {
		return err
	}
	if err := writeSync(root, tmp, body); err != nil {
		_ = root.Remove(tmp)
		return err
	}
	if err := publish(root, tmp, name); err != nil {
		_ = root.Remove(tmp)
		return err
	}
	return nil
}

func (d *dirStore) Remove(ctx context.Context, name string) error {
	err := d.remove(ctx, name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return d.errorf("remove", name, err)
}

func (d *dirStore) remove(ctx context.Context, name string) error {
	root, err := d.begin(ctx, name, false)
	if err != nil {
		return err
	}
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		return nil // a folder is no object
	}
	if err := root.Remove(name); err != nil {
		return err
	}
	_ = root.Remove(sealName(name))
	removeEmpty(root, path.Dir(name))
	return nil
}

// removeEmpty removes a folder and those above it, as long as they are empty:
// folders exist only for the objects in them.
func removeEmpty(root *os.Root, dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if root.Remove(dir) != nil {
			return
		}
	}
}

// begin is what every call with a name starts with.
func (d *dirStore) begin(ctx context.Context, name string, create bool) (*os.Root, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return d.open(create)
}

func (d *dirStore) errorf(verb, name string, err error) error {
	kind := dirKind(err)
	wrapped := fmt.Errorf("cannot %s file %q: %w", verb, filepath.Join(d.path, filepath.FromSlash(name)), err)
	if kind == "" {
		return wrapped
	}
	return fault.As(kind, wrapped)
}

func tempName() (string, error) {
	var b [12]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return path.Join(WorkDir, "put-"+hex.EncodeToString(b[:])), nil
}

// writeSync writes a new file and brings it to the disk.
func writeSync(root *os.Root, name string, body []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// publish renames a finished file to its name, which becomes visible at once
// and lasts over a loss of power.
func publish(root *os.Root, from, to string) error {
	dir := path.Dir(to)
	if dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := root.Rename(from, to); err != nil {
		return err
	}
	return syncDir(root, dir)
}

// syncDir brings the entries of a folder to the disk. File systems that cannot
// do that have nothing to bring.
func syncDir(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if dirKind(err) != fault.Quota && dirKind(err) != fault.Transient {
		err = nil
	}
	return errors.Join(err, f.Close())
}
