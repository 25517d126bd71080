// Package managed has the Terraform resources of outside things. There is one
// resource for all of them: what differs is a row in kinds.go, the schema of
// the kind's CRD, and the client in internal/external that the Crossplane
// provider uses as well.
package managed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/fault"
)

// An Observed is an external.Observation as JSON decodes it.
type Observed struct {
	Exists, UpToDate, Ready bool
	Message                 string
	Status                  map[string]any
	Spec                    map[string]any // as it is outside; nil if nobody can tell
}

// A Thing manages outside things of one kind, with specs and statuses as JSON
// decodes them. Its methods are those of external.Client.
type Thing interface {
	Observe(ctx context.Context, spec map[string]any) (Observed, error)
	Create(ctx context.Context, spec map[string]any) error
	Update(ctx context.Context, spec map[string]any) error
	Delete(ctx context.Context, spec map[string]any) error
}

// erase hides the types of a client.
func erase[S, O any](c external.Client[S, O]) Thing { return thing[S, O]{c} }

type thing[S, O any] struct{ client external.Client[S, O] }

func (t thing[S, O]) Observe(ctx context.Context, raw map[string]any) (Observed, error) {
	var s S
	if err := t.decode(raw, &s); err != nil {
		return Observed{}, err
	}
	v, ok := t.client.(external.Viewer[S])
	o, err := t.client.Observe(ctx, s)
	if fault.Is(err, fault.Conflict) && ok {
		// It is there, and differs in what cannot be changed: that shows below,
		// and a plan replaces it.
		o, err = external.Observation[O]{Exists: true, Message: err.Error()}, nil
	}
	if err != nil {
		return Observed{}, err
	}
	out := Observed{Exists: o.Exists, UpToDate: o.UpToDate, Ready: o.Ready && o.UpToDate, Message: o.Message}
	if err := convert(o.Status, &out.Status); err != nil {
		return Observed{}, err
	}
	if !ok || !o.Exists {
		return out, nil
	}
	seen, err := v.View(ctx, s)
	if fault.Is(err, fault.NotFound) {
		return Observed{}, nil // gone since
	}
	if err != nil {
		return Observed{}, err
	}
	return out, convert(seen, &out.Spec)
}

func (t thing[S, O]) Create(ctx context.Context, raw map[string]any) error {
	return t.with(raw, func(s S) error { return t.client.Create(ctx, s) })
}

func (t thing[S, O]) Update(ctx context.Context, raw map[string]any) error {
	return t.with(raw, func(s S) error { return t.client.Update(ctx, s) })
}

func (t thing[S, O]) Delete(ctx context.Context, raw map[string]any) error {
	return t.with(raw, func(s S) error { return t.client.Delete(ctx, s) })
}

func (t thing[S, O]) with(raw map[string]any, do func(S) error) error {
	var s S
	if err := t.decode(raw, &s); err != nil {
		return err
	}
	return do(s)
}

// decode reads a spec, with the name of its owner if it has one.
func (t thing[S, O]) decode(raw map[string]any, s *S) error {
	if err := convert(raw, s); err != nil {
		return err
	}
	if o, ok := any(s).(*token.Spec); ok {
		name, _ := raw[attrName].(string)
		o.Owner = "terraform/" + name
	}
	return nil
}

// convert goes through JSON. Numbers stay exact.
func convert(from, to any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("cannot encode a spec: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		return fault.Errorf(fault.Invalid, "cannot decode a spec: %w", err)
	}
	return nil
}

// durations are the JSON names of a spec's fields that are durations.
func durations[S any]() []string {
	var out []string
	t := reflect.TypeFor[S]()
	for i := range t.NumField() {
		f := t.Field(i)
		switch f.Type {
		case reflect.TypeFor[*external.Duration](), reflect.TypeFor[external.Duration](), reflect.TypeFor[[]external.Duration]():
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			out = append(out, name)
		}
	}
	return out
}
