// Package preflight validates objects before they are sent to a cluster, with
// the API server's own code, and finds secrets in them.
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

// A Finding is one violation.
type Finding struct {
	Path    string // in YAML, such as "spec.forProvider.subjects"
	Message string
}

// A Checker validates objects of all our kinds. It reads the CRDs on first use.
// It is safe for concurrent use.
type Checker struct {
	load func() (*validation.Schemas, error)
}

// New returns a Checker.
func New() *Checker { return &Checker{load: sync.OnceValues(validation.Load)} }

// Check returns the violations for which an API server would refuse the object.
// unknown holds the YAML paths of values that are not known yet, which the
// object lacks. Check reports nothing at these paths, and evaluates no CEL rules
// if there are any.
func (c *Checker) Check(ctx context.Context, k *crd.Kind, obj map[string]any, unknown []string) ([]Finding, error) {
	obj["apiVersion"], obj["kind"] = k.APIVersion(), k.Kind
	return c.findings(ctx, obj, unknown)
}

// Object is Check for an object with its apiVersion and kind.
func (c *Checker) Object(ctx context.Context, obj map[string]any) ([]Finding, error) {
	return c.findings(ctx, obj, nil)
}

// Version returns the apiVersion of one of Koldun's kinds.
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

// within reports whether path is outer or below it.
func within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
