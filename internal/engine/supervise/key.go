package supervise

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/gorizond/koldun/internal/engine"
)

// writeKey makes the key of this run and writes its file, which only this user may read.
// A file of an earlier run is replaced.
func (s *supervisor) writeKey() error {
	if s.KeyFile == "" {
		return nil
	}
	s.key = rand.Text()
	if err := replaceFile(s.KeyFile, s.key); err != nil {
		return fmt.Errorf("cannot write restart key %q: %w", s.KeyFile, err)
	}
	return nil
}

func replaceFile(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)) // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// knowsKey reports whether a request has the key. Pages of other sites cannot read it, and
// other users of the machine neither.
func (s *supervisor) knowsKey(r *http.Request) bool {
	return s.key != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get(engine.RestartKeyHeader)), []byte(s.key)) == 1
}
