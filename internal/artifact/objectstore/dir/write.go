package dir

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

func (d *store) Put(ctx context.Context, name string, body []byte) error {
	if err := d.put(ctx, name, body); err != nil {
		return d.errorf("write", name, err)
	}
	return nil
}

func (d *store) put(ctx context.Context, name string, body []byte) error {
	root, err := d.begin(ctx, name, true)
	if err != nil {
		return err
	}
	tmp, err := tempName()
	if err != nil {
		return err
	}
	if err := root.MkdirAll(objectstore.WorkDir, 0o755); err != nil {
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

func tempName() (string, error) {
	var b [12]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return path.Join(objectstore.WorkDir, "put-"+hex.EncodeToString(b[:])), nil
}

// writeSync writes a file and syncs it.
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

// publish renames a finished file to its name. The name becomes visible at once
// and survives a loss of power.
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

// syncDir syncs the entries of a folder. It ignores that a file system does not
// support it.
func syncDir(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if kindOf(err) != fault.Quota && kindOf(err) != fault.Transient {
		err = nil
	}
	return errors.Join(err, f.Close())
}
