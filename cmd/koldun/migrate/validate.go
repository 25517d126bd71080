package migrate

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gorizond/koldun/apis/validation"
)

// A check removes what the schemas refuse of a claim.
type check struct {
	*record
	schemas *validation.Schemas
	kind    *kind
	claim   map[string]any
}

// validate removes the values that the claim's schema refuses, and notes them. It
// removes single values and keys of maps only. A missing value or a refused structure is
// an error, and so is a refused criterion, without which the claim would select more.
func (c check) validate(ctx context.Context) error {
	for {
		errs, err := c.violations(ctx, c.claim)
		if err != nil || len(errs) == 0 {
			return err
		}
		removed := false
		for _, e := range errs {
			if removed, err = c.withdraw(ctx, e); err != nil {
				return err
			}
			if removed {
				break // the others may be gone with it
			}
		}
		if !removed {
			return violation(errs[0])
		}
		if c.claim["spec"] == nil {
			c.claim["spec"] = map[string]any{}
		}
	}
}

func (c check) violations(ctx context.Context, claim map[string]any) (field.ErrorList, error) {
	return c.schemas.Violations(ctx, copyOf(claim), true)
}

// withdraw removes what a violation is about, and reports whether it did.
func (c check) withdraw(ctx context.Context, e *field.Error) (bool, error) {
	value, there := get(c.claim, e.Field)
	if e.Type == field.ErrorTypeRequired || !there || !strings.HasPrefix(e.Field, "spec.") {
		return false, nil
	}
	if c.kind.selects(e.Field) {
		return false, violation(e)
	}
	switch x := value.(type) {
	case map[string]any:
		keys, err := c.offending(ctx, e, x)
		if err != nil {
			return false, err
		}
		for _, key := range keys {
			c.lose(child(e.Field, key), "it is refused: "+cause(e), "")
			delete(x, key)
		}
		if len(x) == 0 {
			remove(c.claim, e.Field)
		}
		return len(keys) > 0, nil
	case []any:
		return false, nil
	}
	c.lose(e.Field, "the value is refused: "+cause(e), "")
	remove(c.claim, e.Field)
	return true, nil
}

// offending returns the keys of a map that are refused one by one. There is none, if
// the map is refused without keys, too.
func (c check) offending(ctx context.Context, e *field.Error, m map[string]any) ([]string, error) {
	refused := func(m map[string]any) (bool, error) {
		probe := copyOf(c.claim)
		at, _ := get(probe, e.Field)
		held, _ := at.(map[string]any)
		clear(held)
		maps.Copy(held, m)
		errs, err := c.violations(ctx, probe)
		return slices.ContainsFunc(errs, func(o *field.Error) bool { return o.Field == e.Field && o.Type == e.Type }), err
	}
	if always, err := refused(map[string]any{}); always || err != nil {
		return nil, err
	}
	var found []string
	for _, key := range sorted(m) {
		bad, err := refused(map[string]any{key: m[key]})
		if err != nil {
			return nil, err
		}
		if bad {
			found = append(found, key)
		}
	}
	return found, nil
}

// selecting are the fields that choose objects, nodes, files or callers.
func selecting() []string {
	return []string{
		"matchExpression", "matchExpressions", "matchLabels", "matchFields", "selector", "labelSelector", "namespaceSelector",
		"nodeSelector", "nodeSelectorTerms", "affinity", "nodePool", "include", "exclude", "access",
	}
}

func violation(e *field.Error) error { return errors.New(e.Field + ": " + cause(e)) }

// cause says what is wrong without the value, which may be a secret.
func cause(e *field.Error) string {
	return strings.TrimSuffix(e.Type.String()+": "+e.Detail, ": ")
}
