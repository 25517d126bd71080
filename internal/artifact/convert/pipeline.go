package convert

import (
	"context"
	"io"
	"sort"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

// Memory of the pipeline in bytes, besides the small buffers of each worker.
const (
	partMemory = 64 << 20 // of all parts in flight
	headMemory = 24 << 20 // of all heads being reordered
	sliceSize  = 2 << 20  // of the range that a worker computes at a time
	uploaders  = 4
)

// A pipeline computes the parts of a file and uploads them. produce cuts parts into
// slices in order, workers compute the slices in any order, the digest takes
// complete parts in order, and the uploaders write them and return their buffers.
type pipeline struct {
	plan    *plan
	source  objectstore.Store
	up      objectstore.Upload
	options objectstore.UploadOptions
	workers int
	report  *reporter
	stored  map[int]int64 // parts that an earlier process uploaded
	digest  *digest

	free   chan []byte // unused buffers
	slices chan slice  // to be computed
	filled chan *part  // computed, in any order
	ready  chan *part  // hashed, to be uploaded
}

// A part is one part of the upload in flight.
type part struct {
	number int // from 1
	offset int64
	body   []byte
	stored bool
	left   atomic.Int32 // slices not yet computed
}

// A slice is the range [from, to) of a part's body.
type slice struct {
	part     *part
	from, to int64
}

func newPipeline(cfg Config, p *plan, up objectstore.Upload, o objectstore.UploadOptions, r *reporter) *pipeline {
	stored := up.Stored()
	slots := max(1, int(min(partMemory/o.PartSize, int64(cfg.Workers+uploaders))))
	w := &pipeline{
		plan: p, source: cfg.From, up: up, options: o, workers: cfg.Workers, report: r,
		stored: stored, digest: resumeDigest(up, stored),
		free: make(chan []byte, slots), slices: make(chan slice), filled: make(chan *part), ready: make(chan *part),
	}
	if head := p.largestHead(); head > 0 {
		w.workers = max(1, min(w.workers, int(headMemory/head)))
	}
	for range slots {
		w.free <- nil // allocated at first use
	}
	return w
}

// run returns the SHA-256 of the whole file. It returns when all its
// goroutines have ended.
func (w *pipeline) run(ctx context.Context) ([]byte, error) {
	for _, n := range w.stored {
		w.report.found(n)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.produce(ctx) })
	var workers sync.WaitGroup
	for range w.workers {
		workers.Add(1)
		g.Go(func() error {
			defer workers.Done()
			return w.compute(ctx)
		})
	}
	g.Go(func() error {
		workers.Wait()
		close(w.filled)
		return nil
	})
	g.Go(func() error { return w.sequence(ctx) })
	for range uploaders {
		g.Go(func() error { return w.upload(ctx) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return w.digest.sum.Sum(nil), nil
}

// produce sends the slices of the parts that are not hashed yet.
func (w *pipeline) produce(ctx context.Context) error {
	defer close(w.slices)
	for number := w.digest.parts + 1; number <= w.options.Parts(); number++ {
		body, err := receive(ctx, w.free)
		if err != nil {
			return err
		}
		size := w.options.PartLen(number)
		if int64(cap(body)) < size {
			body = make([]byte, size)
		}
		_, stored := w.stored[number]
		p := &part{number: number, offset: int64(number-1) * w.options.PartSize, body: body[:size], stored: stored}
		step := int64(sliceSize)
		if stored {
			step = size // read back as a whole
		}
		p.left.Store(int32((size + step - 1) / step))
		for from := int64(0); from < size; from += step {
			if err := send(ctx, w.slices, slice{p, from, min(from+step, size)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// compute fills slices until there are no more.
func (w *pipeline) compute(ctx context.Context) error {
	f := newFiller(w.plan, w.source)
	for s := range w.slices {
		if err := w.fill(ctx, f, s); err != nil {
			return err
		}
		if s.part.left.Add(-1) > 0 {
			continue
		}
		if err := send(ctx, w.filled, s.part); err != nil {
			return err
		}
	}
	return nil
}

func (w *pipeline) fill(ctx context.Context, f *filler, s slice) error {
	body := s.part.body[s.from:s.to]
	if s.part.stored {
		err := w.readBack(ctx, s.part.number, body)
		if !fault.Is(err, fault.Unsupported) {
			return err
		}
	}
	return f.fill(ctx, body, s.part.offset+s.from)
}

func (w *pipeline) readBack(ctx context.Context, number int, body []byte) error {
	r, err := w.up.ReadPart(ctx, number)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	_, err = io.ReadFull(r, body)
	return err
}

// sequence hashes computed parts in order.
func (w *pipeline) sequence(ctx context.Context) error {
	defer close(w.ready)
	waiting := map[int]*part{} // at most as many as there are buffers
	for p := range w.filled {
		waiting[p.number] = p
		for next := waiting[w.digest.parts+1]; next != nil; next = waiting[w.digest.parts+1] {
			delete(waiting, next.number)
			if err := w.digest.add(next.body); err != nil {
				return err
			}
			if !next.stored {
				if err := send(ctx, w.ready, next); err != nil {
					return err
				}
				continue
			}
			w.free <- next.body
		}
	}
	return ctx.Err()
}

// upload writes parts until there are no more.
func (w *pipeline) upload(ctx context.Context) error {
	for p := range w.ready {
		if err := w.up.WritePart(ctx, p.number, p.body); err != nil {
			return err
		}
		w.report.wrote(w.plan.at(p.offset+int64(len(p.body))-1), int64(len(p.body)))
		if err := w.digest.stored(ctx, w.up, p.number); err != nil {
			return err
		}
		w.free <- p.body
	}
	return nil
}

// at returns the name of the tensor at an offset of the file.
func (p *plan) at(off int64) string {
	i := sort.Search(len(p.tensors), func(i int) bool { return p.tensors[i].End() > off })
	if i == len(p.tensors) {
		return ""
	}
	return p.tensors[i].Name
}

func (p *plan) largestHead() int64 {
	var head int64
	for _, t := range p.tensors {
		head = max(head, t.headSize())
	}
	return head
}

func send[T any](ctx context.Context, ch chan<- T, v T) error {
	select {
	case ch <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func receive[T any](ctx context.Context, ch <-chan T) (T, error) {
	select {
	case v := <-ch:
		return v, nil
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
