// Package preflight checks objects before a cluster or a server sees them,
// with the API server's own code.
package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// A Finding is one thing that is wrong.
type Finding struct {
	Path    string // in YAML, such as "spec.forProvider.subjects"
	Message string
}

// A Checker checks objects of all kinds. It reads the CRDs when it is first
// used. It is safe for concurrent use.
type Checker struct {
	load func() (*validation.Schemas, error)
}

// New is a Checker.
func New() *Checker { return &Checker{load: sync.OnceValues(validation.Load)} }

// Check looks for what an API server would refuse. Unknown are the YAML paths
// of values that are not known yet and so are not in the object: nothing is
// said about them, nor by rules that might speak of them.
func (c *Checker) Check(ctx context.Context, k *crd.Kind, obj map[string]any, unknown []string) ([]Finding, error) {
	obj["apiVersion"], obj["kind"] = k.APIVersion(), k.Kind
	return c.findings(ctx, obj, unknown)
}

// Object is Check for an object that says of which kind it is.
func (c *Checker) Object(ctx context.Context, obj map[string]any) ([]Finding, error) {
	return c.findings(ctx, obj, nil)
}

// Version is the apiVersion of one of Koldun's kinds.
func (c *Checker) Version(kind string) (string, error) {
	schemas, err := c.load()
	if err != nil {
		return "", err
	}
	var known []string
	for _, k := range schemas.Known() {
		version, name, _ := cutLast(k, "/")
		if name == kind {
			return version, nil
		}
		known = append(known, name)
	}
	return "", fmt.Errorf("kind %q is not one of Koldun's: %s", kind, strings.Join(known, ", "))
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func (c *Checker) findings(ctx context.Context, obj map[string]any, unknown []string) ([]Finding, error) {
	schemas, err := c.load()
	if err != nil {
		return nil, fmt.Errorf("cannot check %v: %w", obj["kind"], err)
	}
	errs, err := schemas.Violations(ctx, obj, len(unknown) == 0)
	if err != nil {
		return nil, fmt.Errorf("cannot check %v: %w", obj["kind"], err)
	}
	var out []Finding
	for _, e := range errs {
		path := strings.TrimPrefix(e.Field, "<nil>.")
		if slices.ContainsFunc(unknown, func(u string) bool { return within(path, u) || within(u, path) }) {
			continue
		}
		out = append(out, Finding{Path: path, Message: e.ErrorBody()})
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(out), nil
}

// within reports whether a path is another or below it.
func within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
