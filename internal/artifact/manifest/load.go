package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// maxSize is the most that a manifest has, in bytes: about 20,000 files. The provider
// reads twenty at a time.
const maxSize = 5 << 20

// A Reader reads a named object from an offset; objectstore.Store is one.
type Reader interface {
	Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
}

// A Writer writes a small object in one step; objectstore.Store is one.
type Writer interface {
	Put(ctx context.Context, name string, body []byte) error
}

// Load reads the manifest of a folder, and the SHA-256 of its bytes in
// lower-case hex. Errors: NotFound (the folder holds no complete model), Corrupt,
// and those of the reader.
func Load(ctx context.Context, from Reader) (m Manifest, digest string, err error) {
	r, err := from.Open(ctx, names.Manifest, 0, -1)
	if err != nil {
		return Manifest{}, "", err
	}
	defer func() { _ = r.Close() }()
	body, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return Manifest{}, "", err
	}
	if len(body) > maxSize {
		return Manifest{}, "", fault.Errorf(fault.Corrupt, "cannot read manifest: it has more than %d bytes", maxSize)
	}
	sum := sha256.Sum256(body)
	m, err = Decode(body)
	return m, hex.EncodeToString(sum[:]), err
}

// Save writes the manifest of a folder. All files must exist before.
func Save(ctx context.Context, to Writer, m Manifest) error {
	body, err := Encode(m)
	if err != nil {
		return fmt.Errorf("cannot write manifest: %w", err)
	}
	if len(body) > maxSize {
		return fault.Errorf(fault.Unsupported, "cannot write manifest: %d files take %d bytes, and it may have %d: leave files out", len(m.Files), len(body), maxSize)
	}
	return to.Put(ctx, names.Manifest, body)
}
