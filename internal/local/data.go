package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/gorizond/koldun/internal/fault"
)

// Data is a folder that one process uses exclusively:
//
//	lock           held while the process runs
//	volumes/       volume claims, by namespace and name; kept
//	run/           files of running pods; emptied at the start
//	logs/          logs/POD/CONTAINER.log; emptied at the start
//	logs.previous/ the logs of the previous run
//
// and other folders of its owner.
type Data struct {
	dir  string
	lock *os.File
}

// OpenData locks a folder, creates it if absent, and removes the remains of a
// killed process. If another process uses the folder, the error is a Conflict.
func OpenData(dir string) (*Data, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot find data folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { //nolint:gosec // the folder is the user's choice
		return nil, fault.As(diskFault(err), fmt.Errorf("cannot make data folder: %w", err))
	}
	lock, err := takeLock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("cannot use data folder %q: %w", dir, err)
	}
	d := &Data{dir: dir, lock: lock}
	if err := d.clean(); err != nil {
		_ = d.Close()
		return nil, fault.As(diskFault(err), fmt.Errorf("cannot clean data folder %q: %w", dir, err))
	}
	return d, nil
}

// Path returns a path in the folder.
func (d *Data) Path(elem ...string) string {
	return filepath.Join(append([]string{d.dir}, elem...)...)
}

// Close releases the folder.
func (d *Data) Close() error { return d.lock.Close() }

// clean removes files that only a running process needs. It does not look for
// processes of a killed run: they exit (process.ExitWithParent), and a stored
// process id may belong to another process by now.
func (d *Data) clean() error {
	if err := os.RemoveAll(d.Path("run")); err != nil {
		return err
	}
	if err := os.RemoveAll(d.Path("logs.previous")); err != nil {
		return err
	}
	if err := os.Rename(d.Path("logs"), d.Path("logs.previous")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, sub := range []string{"run", "logs", "volumes"} {
		if err := os.MkdirAll(d.Path(sub), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// takeLock locks a file until it is closed or the process ends. The file holds
// the process id only for the error message of others.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // likewise
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		err = writePID(f)
	}
	if err == nil {
		return f, nil
	}
	defer func() { _ = f.Close() }()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		pid, _ := io.ReadAll(io.LimitReader(f, 20))
		return nil, fault.Errorf(fault.Conflict, "process %s uses it; stop it, or choose another data folder",
			strings.TrimSpace(string(pid)))
	}
	return nil, err
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// diskFault returns the kind of an error of the file system.
func diskFault(err error) fault.Kind {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fault.Quota
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		return fault.Denied
	}
	return fault.KindOf(err)
}
