package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
)

// readClaims reads all documents of the files, "-" for standard input, and
// checks them as an API server would. Defaults are filled in; an object
// without a namespace gets "default". Objects of kinds that are not ours are
// taken as they are.
func readClaims(ctx context.Context, schemas *validation.Schemas, files []string) ([]local.Object, error) {
	var out []local.Object
	for _, name := range files {
		objs, err := readFile(ctx, schemas, name)
		if err != nil {
			return nil, err
		}
		out = append(out, objs...)
	}
	if len(out) == 0 {
		return nil, fault.Errorf(fault.Invalid, "cannot use %q: there is no object in it", files)
	}
	return out, nil
}

func readFile(ctx context.Context, schemas *validation.Schemas, name string) ([]local.Object, error) {
	raw, err := slurp(name)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot read claims: %w", err)
	}
	var out []local.Object
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw)))
	for n := 1; ; n++ {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fault.Errorf(fault.Invalid, "cannot read document %d of %q: %w", n, name, err)
		}
		var obj map[string]any
		if err := yaml.UnmarshalStrict(doc, &obj); err != nil {
			return nil, fault.Errorf(fault.Invalid, "cannot read document %d of %q: %w", n, name, err)
		}
		if len(obj) == 0 {
			continue
		}
		o := local.Object(obj)
		namespaced(o)
		if err := check(ctx, schemas, o); err != nil {
			return nil, fault.Errorf(fault.Invalid, "cannot use %s of %q: %w", o.Key(), name, err)
		}
		if o, err = plain(o); err != nil {
			return nil, fmt.Errorf("cannot read document %d of %q: %w", n, name, err)
		}
		out = append(out, o)
	}
}

func slurp(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

// check leaves kinds of other groups alone, but for those that only sound like
// ours.
func check(ctx context.Context, schemas *validation.Schemas, o local.Object) error {
	key := o.Key()
	group := key.Group()
	if key.Kind == "" || key.APIVersion == "" {
		return fmt.Errorf("apiVersion and kind are required")
	}
	if group != local.CompositeGroup && group != local.ManagedGroup && !looksOurs(key.Kind, group) {
		return nil
	}
	return schemas.Check(ctx, o)
}

func looksOurs(kind, group string) bool {
	switch kind {
	case "Dllama", "Model", "Session":
		return true
	}
	return group != "networking.k8s.io" && kind == "Ingress"
}

func namespaced(o local.Object) {
	meta, ok := o["metadata"].(map[string]any)
	if !ok {
		return
	}
	if ns, _ := meta["namespace"].(string); ns == "" {
		meta["namespace"] = "default"
	}
}
