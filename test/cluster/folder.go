package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const folderPattern = "koldun-cluster-"

// keepEnv keeps data and logs in the folder for temporary files until the next cluster
// starts without it.
const keepEnv = "KOLDUN_CLUSTER_KEEP"

// A folder contains the data and logs of one cluster. It is locked while its cluster
// runs.
type folder struct {
	path string
	lock *os.File
}

// newFolder creates a folder, and removes the folders of clusters that no longer run.
func newFolder() (*folder, error) {
	stale, err := filepath.Glob(filepath.Join(os.TempDir(), folderPattern+"*"))
	if err != nil {
		return nil, err
	}
	for _, path := range stale {
		if lock, err := lockFolder(path); err == nil {
			(&folder{path: path, lock: lock}).remove()
		}
	}
	for {
		path, err := os.MkdirTemp("", folderPattern)
		if err != nil {
			return nil, fmt.Errorf("cannot make folder of cluster: %w", err)
		}
		// Another test may remove it as stale before it is locked.
		lock, err := lockFolder(path)
		if err != nil {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			return &folder{path: path, lock: lock}, nil
		}
		_ = lock.Close()
	}
}

func lockFolder(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (f *folder) in(elem ...string) string {
	return filepath.Join(append([]string{f.path}, elem...)...)
}

// remove removes the folder unless keepEnv is set.
func (f *folder) remove() {
	if os.Getenv(keepEnv) != "1" {
		_ = os.RemoveAll(f.path)
	}
	_ = f.lock.Close()
}
