package migrate

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gorizond/koldun/internal/fault"
)

// A Document is one object of a file.
type Document struct {
	File   string
	Object map[string]any // with the types of JSON, and int64

	lines map[string]int // by the path of the field
}

// maxNodes limits the size of a document: aliases can make a short one huge.
const maxNodes = 1 << 20

// Read returns the objects of a stream of YAML or JSON documents. It replaces lists
// of objects by their items. file is for messages. Errors: Invalid.
func Read(file string, from io.Reader) ([]*Document, error) {
	var out []*Document
	docs := yaml.NewDecoder(from)
	for n := 1; ; n++ {
		var root yaml.Node
		err := docs.Decode(&root)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err == nil && len(root.Content) == 1 && root.Content[0].Tag != "!!null" {
			r := &reader{lines: map[string]int{}}
			var v any
			if v, err = r.value(root.Content[0], ""); err == nil {
				out, err = appendObjects(out, file, r, v)
			}
		}
		if err != nil {
			return nil, fault.Errorf(fault.Invalid, "cannot read document %d of %q: %w", n, file, err)
		}
	}
}

func appendObjects(out []*Document, file string, r *reader, v any) ([]*Document, error) {
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("it is no object")
	}
	items, isList := obj["items"].([]any)
	if kind, _ := obj["kind"].(string); !isList || !strings.HasSuffix(kind, "List") {
		return append(out, &Document{File: file, Object: obj, lines: r.lines}), nil
	}
	for i, item := range items {
		obj, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("items[%d] is no object", i)
		}
		lines, prefix := map[string]int{}, fmt.Sprintf("items[%d]", i)
		for path, line := range r.lines {
			if rest, ok := strings.CutPrefix(path, prefix); ok {
				lines[strings.TrimPrefix(rest, ".")] = line
			}
		}
		out = append(out, &Document{File: file, Object: obj, lines: lines})
	}
	return out, nil
}

// A reader converts nodes to values and keeps their lines.
type reader struct {
	lines map[string]int
	nodes int
}

func (r *reader) value(n *yaml.Node, path string) (any, error) {
	if r.nodes++; r.nodes > maxNodes {
		return nil, fmt.Errorf("it has more than %d values", maxNodes)
	}
	if _, ok := r.lines[path]; !ok {
		r.lines[path] = n.Line
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.value(n.Alias, path)
	case yaml.MappingNode:
		return r.mapping(n, path)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for i, c := range n.Content {
			v, err := r.value(c, fmt.Sprintf("%s[%d]", path, i))
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
	return scalar(n)
}

func (r *reader) mapping(n *yaml.Node, path string) (any, error) {
	out := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			return nil, fmt.Errorf("line %d: a key is no plain name", key.Line)
		}
		if _, twice := out[key.Value]; twice {
			return nil, fmt.Errorf("line %d: key %q is given twice", key.Line, key.Value)
		}
		at := child(path, key.Value)
		r.lines[at] = key.Line
		v, err := r.value(value, at)
		if err != nil {
			return nil, err
		}
		out[key.Value] = v
	}
	return out, nil
}

func scalar(n *yaml.Node) (any, error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, fmt.Errorf("line %d: %w", n.Line, err)
	}
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case uint64:
		return float64(v), nil
	case time.Time:
		return n.Value, nil
	}
	return v, nil
}

// where returns the place of a field, or of the nearest field around it.
func (d *Document) where(path string) string {
	for {
		if line, ok := d.lines[path]; ok {
			return fmt.Sprintf("%s:%d", d.File, line)
		}
		if path == "" {
			return d.File
		}
		path = parent(path)
	}
}
