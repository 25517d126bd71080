package verify

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
	"github.com/gorizond/koldun/internal/model/topology"
)

// Converted are the files of a converted model without a manifest, such as those in a
// volume that another system has filled.
type Converted struct {
	Store     objectstore.Store
	Model     string // path of the weights
	Tokenizer string // path of the tokenizer; empty is not checked
	Weights   string // wanted type of the weights; empty is any
}

// Inspect reads the headers of both files, and returns the shape of the model and the
// size of the files in bytes. Errors: NotFound, if a file does not exist; Corrupt, if one
// is incomplete or of another format; Invalid, if the weights are of another type than
// wanted; Unsupported; those of the store.
func Inspect(ctx context.Context, c Converted) (topology.Shape, int64, error) {
	shape, size, err := inspect(ctx, c)
	if err != nil {
		return shape, 0, fmt.Errorf("cannot inspect %s: %w", c.Store.URL(), err)
	}
	return shape, size, nil
}

func inspect(ctx context.Context, c Converted) (shape topology.Shape, size int64, err error) {
	sizes := map[string]int64{}
	for _, name := range []string{c.Model, c.Tokenizer} {
		if name == "" {
			continue
		}
		o, err := c.Store.Stat(ctx, name)
		if fault.Is(err, fault.NotFound) {
			return shape, 0, fault.Errorf(fault.NotFound, "file %q does not exist%s", name, candidates(ctx, c.Store, path.Ext(name)))
		}
		if err != nil {
			return shape, 0, err
		}
		sizes[name] = o.Size
		size += o.Size
	}
	if shape, err = shapeOf(ctx, c.Store, c.Model, sizes[c.Model]); err != nil {
		return shape, 0, err
	}
	if c.Weights != "" && string(shape.Weights) != c.Weights {
		return shape, 0, fault.Errorf(fault.Invalid, "file %q holds weights of type %s, and %s is wanted", c.Model, shape.Weights, c.Weights)
	}
	if c.Tokenizer == "" {
		return shape, size, nil
	}
	return shape, size, checkTokenizer(ctx, c.Store, c.Tokenizer)
}

// most is how many files a message lists.
const most = 8

// candidates names the files that may be meant instead: those of the same extension.
// It is empty if they cannot be listed.
func candidates(ctx context.Context, store objectstore.Store, ext string) string {
	objects, err := store.List(ctx, "")
	if err != nil {
		return ""
	}
	var names []string
	for _, o := range objects {
		if path.Ext(o.Name) == ext && len(names) < most {
			names = append(names, strconv.Quote(o.Name))
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf(", nor does any other file *%s", ext)
	}
	return ": there are " + strings.Join(names, ", ")
}

func shapeOf(ctx context.Context, store objectstore.Store, name string, size int64) (topology.Shape, error) {
	r, err := store.Open(ctx, name, 0, -1)
	if err != nil {
		return topology.Shape{}, err
	}
	defer func() { _ = r.Close() }()
	shape, err := dllama.ReadShape(r, size)
	if err != nil {
		return shape, fmt.Errorf("file %q: %w", name, err)
	}
	return shape, nil
}

func checkTokenizer(ctx context.Context, store objectstore.Store, name string) error {
	r, err := store.Open(ctx, name, 0, -1)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	if _, err := tokenizer.Read(r); err != nil {
		return fmt.Errorf("file %q: %w", name, err)
	}
	return nil
}
