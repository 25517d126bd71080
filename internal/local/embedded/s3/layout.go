package s3

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"

	"github.com/gorizond/koldun/internal/fault"
)

// A layout is where the gateway keeps its data in one folder: buckets in "data",
// metadata in "meta" on file systems without extended attributes, and old versions
// of objects in "versions".
type layout struct {
	data, meta string // absolute
	versions   string // absolute; empty: the gateway keeps none
	sidecar    bool   // keep metadata in files
	noTmpFile  bool   // give temporary files names
}

// prepare creates the folders and detects what the file system supports. A folder
// with metadata in files keeps them.
func prepare(r request) (layout, error) {
	abs, err := filepath.Abs(r.Dir)
	if err != nil {
		return layout{}, err
	}
	l := layout{data: filepath.Join(abs, "data"), meta: filepath.Join(abs, "meta")}
	if err := os.MkdirAll(l.data, 0o700); err != nil {
		return layout{}, folderError(l.data, err)
	}
	_, err = os.Stat(l.meta)
	l.sidecar = r.Sidecar || err == nil || !hasXattrs(l.data)
	if l.sidecar {
		if err := os.MkdirAll(l.meta, 0o700); err != nil {
			return layout{}, folderError(l.meta, err)
		}
	}
	if r.Versions {
		l.versions = filepath.Join(abs, "versions")
		if err := os.MkdirAll(l.versions, 0o700); err != nil {
			return layout{}, folderError(l.versions, err)
		}
	}
	l.noTmpFile = r.NoTmpFiles || !hasTmpFiles(l.data)
	return l, nil
}

// backend opens the folders. It changes the working directory of the process.
func (l layout) backend() (*posix.Posix, error) {
	opts := posix.PosixOpts{ForceNoTmpFile: l.noTmpFile, ForceNoObjLockFile: true, VersioningDir: l.versions}
	opts.SetNewDirPerm(0o700)
	opts.SetNewFilePerm(0o600)
	if !l.sidecar {
		return posix.New(l.data, meta.XattrMeta{}, opts)
	}
	store, err := meta.NewSideCar(l.meta)
	if err != nil {
		return nil, err
	}
	// Without the sidecar's folder in opts, posix.New does not print it. It would
	// only check that the folder is not inside the data folder.
	return posix.New(l.data, store, opts)
}

func folderError(dir string, err error) error {
	kind := fault.Denied
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		kind = fault.Quota
	}
	return fault.Errorf(kind, "cannot create folder %q: %w", dir, err)
}

// probeName returns a name in the data folder that is not a valid bucket name.
func probeName(dir string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return filepath.Join(dir, ".probe-"+hex.EncodeToString(b[:]))
}
