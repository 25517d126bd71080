package fetch

import (
	"context"
	"io"
	"math"
	"sort"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

// An item is one file to transfer to the target.
type item struct {
	path string
	size int64
	// The digests of its bytes, lower-case hex. Both may be empty: the transfer
	// then computes them.
	sha256 string
	git    string // the id that git gives the content
	// token identifies the content of parts and files in the target.
	token string
	// fresh items count as present only if the token says so: their digests do not.
	fresh bool
	seen  *tally // counts its bytes
	open  func(ctx context.Context, offset, length int64) (io.ReadCloser, error)
}

// reloaded is the item for a request to download it again; an empty request is none.
func (it item) reloaded(request string) item {
	if request == "" {
		return it
	}
	it.fresh = true
	it.token += ";reload=" + request
	return it
}

// partSizeFor grows the part size for files that would need too many parts.
func partSizeFor(size, partSize int64) int64 {
	const maxParts, unit = 10_000, 1 << 20
	need := (size + maxParts - 1) / maxParts
	if need <= partSize {
		return partSize
	}
	return (need + unit - 1) / unit * unit
}

// total returns the sum of the sizes in bytes.
func total(items []item) (int64, error) {
	var n int64
	for _, it := range items {
		if it.size < 0 || n > math.MaxInt64-it.size {
			return 0, fault.Errorf(fault.Corrupt, "cannot fetch file %q: its size is said to be %d", it.path, it.size)
		}
		n += it.size
	}
	return n, nil
}

// small files come first: they say what the large ones are.
func sortItems(items []item) {
	const small = 1 << 20
	sort.Slice(items, func(i, j int) bool {
		a, b := items[i], items[j]
		if (a.size < small) != (b.size < small) {
			return a.size < small
		}
		return a.path < b.path
	})
}

func (it item) options(partSize int64) objectstore.UploadOptions {
	return objectstore.UploadOptions{Size: it.size, PartSize: partSizeFor(it.size, partSize), Token: it.token}
}
