package fetch

import (
	"crypto/sha1" //nolint:gosec // the id that git gives a file
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"github.com/gorizond/koldun/internal/fault"
)

// A digest hashes a file's bytes in order. Another process can continue it from
// its saved state.
type digest struct {
	parts  int // of the upload, hashed so far
	sha256 hash.Hash
	git    hash.Hash // nil unless the item has a git id
}

// A digestState is the saved form of a digest.
type digestState struct {
	Parts  int    `json:"parts"`
	SHA256 []byte `json:"sha256"`
	Git    []byte `json:"git,omitempty"`
}

func newDigest(it item) *digest {
	d := &digest{sha256: sha256.New()}
	if it.git != "" {
		d.git = sha1.New() //nolint:gosec // git's
		_, _ = fmt.Fprintf(d.git, "blob %d\x00", it.size)
	}
	return d
}

// resumeDigest continues from a saved state if the parts that it covers are all
// stored, and otherwise starts again. The final comparison of the digest reveals
// a wrong state.
func resumeDigest(it item, state []byte, stored map[int]int64) *digest {
	var s digestState
	if len(state) == 0 || json.Unmarshal(state, &s) != nil || s.Parts < 0 || s.Parts > len(stored) {
		return newDigest(it)
	}
	for n := 1; n <= s.Parts; n++ {
		if _, ok := stored[n]; !ok {
			return newDigest(it)
		}
	}
	d := newDigest(it)
	if !restore(d.sha256, s.SHA256) || (d.git != nil && !restore(d.git, s.Git)) {
		return newDigest(it)
	}
	d.parts = s.Parts
	return d
}

func restore(h hash.Hash, state []byte) bool {
	u, ok := h.(encoding.BinaryUnmarshaler)
	return ok && u.UnmarshalBinary(state) == nil
}

// add writes the next part.
func (d *digest) add(part []byte) {
	_, _ = d.Write(part)
	d.parts++
}

func (d *digest) Write(p []byte) (int, error) {
	_, _ = d.sha256.Write(p)
	if d.git != nil {
		_, _ = d.git.Write(p)
	}
	return len(p), nil
}

func (d *digest) state() []byte {
	s := digestState{Parts: d.parts, SHA256: save(d.sha256)}
	if d.git != nil {
		s.Git = save(d.git)
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return b
}

func save(h hash.Hash) []byte {
	m, ok := h.(encoding.BinaryMarshaler)
	if !ok {
		return nil
	}
	b, err := m.MarshalBinary()
	if err != nil {
		return nil
	}
	return b
}

func (d *digest) sum() string { return hex.EncodeToString(d.sha256.Sum(nil)) }

// check compares the digest with that of the item. Errors: Corrupt.
func (d *digest) check(it item) error {
	if sum := d.sum(); it.sha256 != "" && sum != it.sha256 {
		return fault.Errorf(fault.Corrupt, "its SHA-256 is %s, must be %s", sum, it.sha256)
	}
	if d.git == nil {
		return nil
	}
	if sum := hex.EncodeToString(d.git.Sum(nil)); sum != it.git {
		return fault.Errorf(fault.Corrupt, "its git id is %s, must be %s", sum, it.git)
	}
	return nil
}

// read hashes a whole stream, which must have the item's size.
func (d *digest) read(r io.Reader, it item) error {
	n, err := io.CopyBuffer(struct{ io.Writer }{d}, r, make([]byte, 256<<10))
	if err != nil {
		return err
	}
	if n != it.size {
		return fault.Errorf(fault.Corrupt, "it has %d bytes, must have %d", n, it.size)
	}
	return d.check(it)
}
