// Package claims reads the claims that koldun up, render and adopt are given.
package claims

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/functions/platform"
	"github.com/gorizond/koldun/functions/router"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
)

// Read reads all documents of the files, "-" for standard input, and
// validates them as an API server does. It fills in defaults and sets the
// namespace "default" where a namespaced object has none. Objects of other API groups stay as
// they are.
func Read(ctx context.Context, schemas *validation.Schemas, files []string) ([]local.Object, error) {
	var out []local.Object
	for _, name := range files {
		objs, err := readFile(ctx, schemas, name)
		if err != nil {
			return nil, err
		}
		out = append(out, objs...)
	}
	if len(out) == 0 {
		return nil, fault.Errorf(fault.Invalid, "cannot use %q: it holds no object", files)
	}
	return out, nil
}

func readFile(ctx context.Context, schemas *validation.Schemas, name string) ([]local.Object, error) {
	raw, err := readAll(name)
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
		if key := o.Key(); !schemas.ClusterScoped(key.APIVersion, key.Kind) && (key.APIVersion != platform.APIVersion || key.Kind != platform.Kind) {
			defaultNamespace(o)
		}
		if err := check(ctx, schemas, o); err != nil {
			return nil, fault.Errorf(fault.Invalid, "cannot use %s of %q: %w", o.Key(), name, err)
		}
		if o, err = local.NewObject(o); err != nil {
			return nil, fmt.Errorf("cannot read document %d of %q: %w", n, name, err)
		}
		out = append(out, o)
	}
}

func readAll(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

// check validates objects of our groups, and of groups that misspell ours. It
// accepts all other objects as they are.
func check(ctx context.Context, schemas *validation.Schemas, o local.Object) error {
	key := o.Key()
	if key.Kind == "" || key.APIVersion == "" {
		return fmt.Errorf("apiVersion and kind are required")
	}
	group := key.Group()
	if group != local.CompositeGroup && group != local.ManagedGroup && !misspelt(group, key.Kind) {
		return nil
	}
	return schemas.Check(ctx, o)
}

// misspelt reports whether group is likely a typing error for ours: kind is a
// composite kind, and the group has one of the words of ours. Other projects
// have kinds called Model, Session, Ingress or Worker, too.
func misspelt(group, kind string) bool {
	return slices.Contains(router.Kinds(), kind) && (strings.Contains(group, "kold") || strings.Contains(group, "gorizond"))
}

// defaultNamespace puts an object without a namespace into "default".
func defaultNamespace(o local.Object) {
	meta, ok := o["metadata"].(map[string]any)
	if !ok {
		return
	}
	if ns, _ := meta["namespace"].(string); ns == "" {
		meta["namespace"] = "default"
	}
}
