package convert

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/safetensors"
)

// Bounds of the headers of all files together.
const (
	maxShards      = 4096
	maxHeaderBytes = 1 << 25
	headerReaders  = 8
	indexFile      = "model.safetensors.index.json"
)

// A stored tensor is a tensor in one of the safetensors files.
type stored struct {
	safetensors.Tensor
	file string
}

// weights finds tensors by name in any of the files.
type weights map[string]stored

// openWeights reads the headers of all safetensors files. Two files may hold the
// same tensor only if the index names one of them.
func (s *source) openWeights(ctx context.Context) (weights, error) {
	index, err := s.index(ctx)
	if err != nil {
		return nil, err
	}
	var files []string
	for name := range s.files {
		if strings.HasSuffix(name, ".safetensors") {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	if len(files) == 0 {
		return nil, fault.Errorf(fault.NotFound, "there is no *.safetensors file")
	}
	if len(files) > maxShards {
		return nil, fault.Errorf(fault.Unsupported, "there are %d *.safetensors files, want at most %d", len(files), maxShards)
	}
	headers, err := s.headers(ctx, files)
	if err != nil {
		return nil, err
	}
	w := weights{}
	for i, file := range files {
		for _, t := range headers[i] {
			first, twice := w[t.Name]
			switch {
			case twice && index[t.Name] == first.file:
				continue
			case twice && index[t.Name] != file:
				return nil, fault.Errorf(fault.Invalid, "tensor %q stands in files %q and %q, and %s does not say which one counts", t.Name, first.file, file, indexFile)
			}
			w[t.Name] = stored{Tensor: t, file: file}
		}
	}
	return w, nil
}

// index reads the repository's index of tensors, if it has one, and checks that its
// files exist.
func (s *source) index(ctx context.Context) (map[string]string, error) {
	raw, err := s.optional(ctx, indexFile, maxSmall)
	if err != nil || raw == nil {
		return nil, err
	}
	var index struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(raw, &index); err != nil {
		return nil, fault.Errorf(fault.Invalid, "file %q: %w", indexFile, err)
	}
	missing := ""
	for _, file := range index.WeightMap {
		if _, ok := s.files[file]; !ok && (missing == "" || file < missing) {
			missing = file
		}
	}
	if missing != "" {
		return nil, fault.Errorf(fault.NotFound, "there is no file %q, which %s names", missing, indexFile)
	}
	return index.WeightMap, nil
}

// headers reads the headers of several files concurrently.
func (s *source) headers(ctx context.Context, files []string) ([][]safetensors.Tensor, error) {
	headers := make([][]safetensors.Tensor, len(files))
	budget := &budget{left: maxHeaderBytes}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(headerReaders)
	for i, file := range files {
		g.Go(func() error {
			tensors, err := s.header(ctx, file, budget)
			if err != nil {
				return fmt.Errorf("file %q: %w", file, err)
			}
			headers[i] = tensors
			return nil
		})
	}
	return headers, g.Wait()
}

func (s *source) header(ctx context.Context, file string, b *budget) ([]safetensors.Tensor, error) {
	size := s.files[file].Size
	prefix, err := s.read(ctx, file, 0, min(size, safetensors.Prefix))
	if err != nil {
		return nil, err
	}
	n, err := safetensors.HeaderSize(prefix, size)
	if err != nil {
		return nil, err
	}
	if !b.take(n) {
		return nil, fault.Errorf(fault.Unsupported, "the headers of all files have more than %d bytes", maxHeaderBytes)
	}
	header, err := s.read(ctx, file, safetensors.Prefix, n)
	if err != nil {
		return nil, err
	}
	return safetensors.Parse(header, size)
}

// A budget is an amount that several goroutines consume.
type budget struct {
	mu   sync.Mutex
	left int64
}

func (b *budget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}
