package convert

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sort"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/formats/safetensors"
	"github.com/gorizond/koldun/internal/model/topology"
)

// Sizes of a filler's buffers: bytes per read, and values per encoding, few enough
// to stay in the first-level cache.
const (
	readSize   = 1 << 18
	chunkElems = 1 << 12
)

// A filler computes ranges of the model file. Not safe for concurrent use.
type filler struct {
	plan   *plan
	store  objectstore.Store
	read   *bufio.Reader
	raw    []byte
	values []float32
	spare  [dllama.Q80Block]byte
	head   []byte
}

func newFiller(p *plan, store objectstore.Store) *filler {
	return &filler{
		plan: p, store: store, read: bufio.NewReaderSize(nil, readSize),
		raw: make([]byte, 4*chunkElems), values: make([]float32, chunkElems),
	}
}

// fill computes the bytes of the model file from offset off on.
func (f *filler) fill(ctx context.Context, dst []byte, off int64) error {
	if off < int64(len(f.plan.prefix)) {
		n := copy(dst, f.plan.prefix[off:])
		dst, off = dst[n:], off+int64(n)
	}
	all := f.plan.tensors
	next := sort.Search(len(all), func(i int) bool { return all[i].End() > off })
	for ; len(dst) > 0; next++ {
		t := all[next]
		n := min(int64(len(dst)), t.End()-off)
		err := retry(ctx, func() error { return f.tensor(ctx, t, dst[:n], off-t.Offset) })
		if err != nil {
			return fmt.Errorf("tensor %q in file %q: %w", t.from.Name, t.from.file, err)
		}
		dst, off = dst[n:], off+n
	}
	return nil
}

// unit returns the smallest number of values that can be encoded, and its size.
func unit(t topology.FloatType) (elems, size int64) {
	if t.Blocked() {
		return topology.Block, t.Bytes(topology.Block)
	}
	return 1, t.Bytes(1)
}

// tensor computes the bytes of a tensor from byte from on. A range may begin or end
// inside a block.
func (f *filler) tensor(ctx context.Context, t placed, dst []byte, from int64) error {
	elems, size := unit(t.Type)
	first := from / size
	last := (from + int64(len(dst)) + size - 1) / size
	body, err := f.open(ctx, t, first*elems, last*elems)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()

	skip := from - first*size // bytes of the first block before from
	elem := first * elems
	for len(dst) > 0 {
		if skip > 0 || int64(len(dst)) < size {
			if err := f.chunk(body, t, elem, f.spare[:size]); err != nil {
				return err
			}
			dst = dst[copy(dst, f.spare[skip:size]):]
			skip, elem = 0, elem+elems
			continue
		}
		units := min(chunkElems/elems, int64(len(dst))/size)
		if err := f.chunk(body, t, elem, dst[:units*size]); err != nil {
			return err
		}
		dst, elem = dst[units*size:], elem+units*elems
	}
	return nil
}

// chunk reads and encodes the values that fill dst, which begin with number
// elem of the tensor.
func (f *filler) chunk(body io.Reader, t placed, elem int64, dst []byte) error {
	elems, size := unit(t.Type)
	n := int64(len(dst)) / size * elems
	width := t.from.DType.Size()
	raw, values := f.raw[:n*width], f.values[:n]
	if _, err := io.ReadFull(body, raw); err != nil {
		return err
	}
	if t.Type == topology.Q40 && t.from.DType == safetensors.BF16 && dllama.EncodeQ40BF16(dst, raw) {
		return nil
	}
	if !widen(values, raw, t.from.DType) {
		return notFinite(t, elem, values)
	}
	dllama.Encode(t.Type, dst, values)
	return nil
}

// notFinite returns an error that names the first value that is not finite.
func notFinite(t placed, elem int64, values []float32) error {
	for i, v := range values {
		if v-v == 0 {
			continue
		}
		row, col := (elem+int64(i))/int64(t.Cols), (elem+int64(i))%int64(t.Cols)
		if t.heads > 0 {
			rows := t.Rows / t.heads
			row = row/int64(rows)*int64(rows) + int64(sourceRow(int(row)%rows, rows))
		}
		return fault.Errorf(fault.Invalid, "the value in row %d, column %d is %g, want only finite weights", row, col, v)
	}
	return fault.Errorf(fault.Internal, "a value is not finite")
}

// open returns the raw values begin to end of a tensor, in the order of the model
// file.
func (f *filler) open(ctx context.Context, t placed, begin, end int64) (io.ReadCloser, error) {
	width := t.from.DType.Size()
	if t.heads == 0 {
		return f.openRange(ctx, t.from, begin*width, end*width)
	}
	head := t.headSize()
	at := begin * width / head * head
	stop := (end*width + head - 1) / head * head
	body, err := f.openRange(ctx, t.from, at, stop)
	if err != nil {
		return nil, err
	}
	if int64(cap(f.head)) < head {
		f.head = make([]byte, head)
	}
	h := newHeadReader(body, f.head[:head], t.Cols*int(width))
	if _, err := io.CopyN(io.Discard, h, begin*width-at); err != nil {
		_ = body.Close()
		return nil, err
	}
	return withCloser{h, body}, nil
}

type withCloser struct {
	io.Reader
	io.Closer
}

// openRange reads ahead in large steps, independent of the size of the reads.
func (f *filler) openRange(ctx context.Context, t stored, begin, end int64) (io.ReadCloser, error) {
	body, err := f.store.Open(ctx, t.file, t.Offset+begin, end-begin)
	if err != nil {
		return nil, err
	}
	f.read.Reset(body)
	return withCloser{f.read, body}, nil
}
