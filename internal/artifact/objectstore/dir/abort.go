package dir

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

// staleTemp is the age after which a temporary file of Put is not in use.
const staleTemp = time.Hour

func (d *store) AbortUploads(ctx context.Context, keep func(name string) bool) error {
	root, err := d.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = d.abortUploads(ctx, root, keep)
	}
	if err != nil {
		return d.errorf("clean", objectstore.WorkDir, err)
	}
	return nil
}

func (d *store) abortUploads(ctx context.Context, root *os.Root, keep func(name string) bool) error {
	entries, err := fs.ReadDir(root.FS(), objectstore.WorkDir)
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
		name := path.Join(objectstore.WorkDir, e.Name())
		if e.Name() == path.Base(sealDir) || e.Name() == lockFile {
			continue
		}
		if !e.IsDir() {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleTemp {
				_ = root.Remove(name)
			}
			continue
		}
		var rec record
		body, err := root.ReadFile(path.Join(name, uploadFile))
		if err == nil && json.Unmarshal(body, &rec) == nil && keep != nil && keep(rec.Name) {
			continue
		}
		lock, err := lockDir(root, name)
		if fault.Is(err, fault.Conflict) {
			continue // its writer still runs
		}
		if err != nil {
			return err
		}
		err = removeDir(root, name)
		_ = lock.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
