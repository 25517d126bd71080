package dir

import (
	"github.com/gorizond/koldun/internal/artifact/objectstore"

	"encoding/json"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// sealDir holds one seal per file that an Upload wrote.
const sealDir = objectstore.WorkDir + "/seals"

// A seal binds a token to the file that an Upload finished: a file that was
// changed or replaced since then has another inode or modification time.
type seal struct {
	Name     string `json:"name"`
	Token    string `json:"token"`
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"` // nanoseconds since 1970
	Inode    uint64 `json:"inode"`
}

func sealName(name string) string { return path.Join(sealDir, objectstore.WorkName(name)) }

func sealOf(name, token string, info fs.FileInfo) seal {
	s := seal{Name: name, Token: token, Size: info.Size(), Modified: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Inode = st.Ino
	}
	return s
}

// readSeal returns the token of the file, or "" if it has no matching seal.
func readSeal(root *os.Root, name string, info fs.FileInfo) string {
	body, err := root.ReadFile(sealName(name))
	var s seal
	if err != nil || json.Unmarshal(body, &s) != nil || s != sealOf(name, s.Token, info) {
		return ""
	}
	return s.Token
}

func writeSeal(root *os.Root, name, token string, info fs.FileInfo) error {
	body, err := json.Marshal(sealOf(name, token, info))
	if err != nil {
		return err
	}
	if err := root.MkdirAll(sealDir, 0o755); err != nil {
		return err
	}
	tmp := sealName(name) + ".new"
	if err := writeSync(root, tmp, body); err != nil {
		return err
	}
	return root.Rename(tmp, sealName(name))
}
