// Package dir stores objects as files below one folder.
package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/modelref"
)

// A store is one folder. All access goes through an os.Root, so that neither
// names nor symbolic links lead out of it.
type store struct {
	path string // absolute

	mu   sync.Mutex
	root *os.Root // nil until the folder exists
}

// Open opens a folder as a store. The first write creates the folder; a missing
// folder reads as an empty one.
func Open(path string) (objectstore.Store, error) {
	if path == "" {
		return nil, fault.Errorf(fault.Invalid, "cannot open folder: no path given")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open folder %q: %w", path, err)
	}
	return &store{path: abs}, nil
}

func (d *store) URL() string {
	return modelref.Ref{Scheme: modelref.File, Path: d.path}.String()
}

// Around returns the folders around this one.
func (d *store) Around() ([]objectstore.Store, error) {
	var out []objectstore.Store
	for at := filepath.Dir(d.path); ; at = filepath.Dir(at) {
		s, err := Open(at)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
		if at == filepath.Dir(at) {
			return out, nil
		}
	}
}

// open returns the root. Without a folder it creates one, or fails with
// fs.ErrNotExist if create is false.
func (d *store) open(create bool) (*os.Root, error) {
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

func (d *store) Stat(ctx context.Context, name string) (objectstore.Object, error) {
	o, err := d.stat(ctx, name)
	if err != nil {
		return objectstore.Object{}, d.errorf("stat", name, err)
	}
	return o, nil
}

func (d *store) stat(ctx context.Context, name string) (objectstore.Object, error) {
	root, err := d.begin(ctx, name, false)
	if err != nil {
		return objectstore.Object{}, err
	}
	info, err := root.Stat(name)
	if err != nil {
		return objectstore.Object{}, err
	}
	if !info.Mode().IsRegular() {
		return objectstore.Object{}, fs.ErrNotExist
	}
	return objectstore.Object{Name: name, Size: info.Size(), Modified: info.ModTime(), Token: readSeal(root, name, info)}, nil
}

func (d *store) List(ctx context.Context, prefix string) ([]objectstore.Object, error) {
	list, err := d.list(ctx, prefix)
	if err != nil {
		return nil, d.errorf("list", prefix, err)
	}
	return list, nil
}

func (d *store) list(ctx context.Context, prefix string) ([]objectstore.Object, error) {
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
	var list []objectstore.Object
	err = fs.WalkDir(root.FS(), start, func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist): // removed while walking, or never there
			return nil
		case err != nil:
			return err
		case name == objectstore.WorkDir:
			return fs.SkipDir
		case e.IsDir() || !strings.HasPrefix(name, prefix):
			return nil
		}
		info, err := root.Stat(name) // follows links inside the root
		switch kindOf(err) {
		case fault.NotFound, fault.Invalid: // removed, or a link to nothing or out of the root
			return nil
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		list = append(list, objectstore.Object{Name: name, Size: info.Size(), Modified: info.ModTime()})
		return nil
	})
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list, err
}

func (d *store) Remove(ctx context.Context, name string) error {
	err := d.remove(ctx, name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return d.errorf("remove", name, err)
}

func (d *store) remove(ctx context.Context, name string) error {
	root, err := d.begin(ctx, name, false)
	if err != nil {
		return err
	}
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		return nil // a folder is not an object
	}
	if err := root.Remove(name); err != nil {
		return err
	}
	_ = root.Remove(sealName(name))
	removeEmpty(root, path.Dir(name))
	return nil
}

// removeEmpty removes a folder and its parents as long as they are empty: a store
// has no empty folders.
func removeEmpty(root *os.Root, dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if root.Remove(dir) != nil {
			return
		}
	}
}

// begin checks name and ctx and opens the root.
func (d *store) begin(ctx context.Context, name string, create bool) (*os.Root, error) {
	if err := objectstore.CheckName(name); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return d.open(create)
}

func (d *store) errorf(verb, name string, err error) error {
	kind := kindOf(err)
	wrapped := fmt.Errorf("cannot %s file %q: %w", verb, filepath.Join(d.path, filepath.FromSlash(name)), err)
	if kind == "" {
		return wrapped
	}
	return fault.As(kind, wrapped)
}
