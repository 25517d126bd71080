package dir

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
)

// errNoUpload means that there is no unfinished upload to continue.
var errNoUpload = errors.New("no upload to continue")

// resume continues the upload in the work folder. errNoUpload if there is none,
// it has other options, or its files are damaged.
func (u *upload) resume() error {
	body, err := u.root.ReadFile(path.Join(u.work, uploadFile))
	if errors.Is(err, fs.ErrNotExist) {
		return errNoUpload
	}
	if err != nil {
		return err
	}
	var rec record
	if json.Unmarshal(body, &rec) != nil || rec != newRecord(u.name, u.o) {
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

// begin creates the files of a new upload and removes those of an old one.
func (u *upload) begin() error {
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
	body, err := json.Marshal(newRecord(u.name, u.o))
	if err != nil {
		return err
	}
	return u.replace(uploadFile, body)
}
