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
	"github.com/gorizond/koldun/internal/fault"
)

// Wanted is a thing as it should be.
type Wanted struct {
	Spec map[string]any // as JSON decodes it
	Name string         // of things that are known by a name of their own
	// Stored is what was handed out of the thing before, and kept.
	Stored map[string][]byte
	// Fresh asks for what is there already, before a creation.
	Fresh bool
}

// An Observed is an external.Observation as JSON decodes it.
type Observed struct {
	Exists, UpToDate, Ready bool
	Message                 string
	Status                  map[string]any
	Connection              map[string][]byte // secret
}

// A Thing manages outside things of one kind. Its methods are those of
// external.Client and external.Viewer.
type Thing interface {
	Observe(ctx context.Context, w Wanted) (Observed, error)
	// View is the spec of the thing as it is, nil if nobody can tell; with all,
	// also in what the wanted spec does not speak of. Errors: NotFound.
	View(ctx context.Context, w Wanted, all bool) (map[string]any, error)
	Create(ctx context.Context, w Wanted) error
	Update(ctx context.Context, w Wanted) error
	Delete(ctx context.Context, w Wanted) error
}

// erase hides the types of a client. adapt adds to a spec what is not in its
// JSON; it may be nil.
func erase[S, O any](c external.Client[S, O], adapt func(*S, Wanted)) Thing {
	return thing[S, O]{c, adapt}
}

type thing[S, O any] struct {
	client external.Client[S, O]
	adapt  func(*S, Wanted)
}

func (t thing[S, O]) Observe(ctx context.Context, w Wanted) (Observed, error) {
	s, err := t.spec(w)
	if err != nil {
		return Observed{}, err
	}
	o, err := t.client.Observe(ctx, s)
	if _, ok := t.client.(external.Viewer[S]); ok && fault.Is(err, fault.Conflict) {
		// It is there, and differs in what cannot be changed: View shows it, and
		// a plan replaces it.
		o, err = external.Observation[O]{Exists: true, Message: err.Error()}, nil
	}
	if err != nil {
		return Observed{}, err
	}
	out := Observed{Exists: o.Exists, UpToDate: o.UpToDate, Ready: o.Ready && o.UpToDate, Message: o.Message, Connection: o.Connection}
	err = convert(o.Status, &out.Status)
	return out, err
}

func (t thing[S, O]) View(ctx context.Context, w Wanted, all bool) (map[string]any, error) {
	v, ok := t.client.(external.Viewer[S])
	if !ok {
		return nil, nil
	}
	s, err := t.spec(w)
	if err != nil {
		return nil, err
	}
	seen, err := v.View(ctx, s, all)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	err = convert(seen, &out)
	return out, err
}

func (t thing[S, O]) Create(ctx context.Context, w Wanted) error {
	s, err := t.spec(w)
	if err != nil {
		return err
	}
	return t.client.Create(ctx, s)
}

func (t thing[S, O]) Update(ctx context.Context, w Wanted) error {
	s, err := t.spec(w)
	if err != nil {
		return err
	}
	return t.client.Update(ctx, s)
}

func (t thing[S, O]) Delete(ctx context.Context, w Wanted) error {
	s, err := t.spec(w)
	if err != nil {
		return err
	}
	return t.client.Delete(ctx, s)
}

func (t thing[S, O]) spec(w Wanted) (S, error) {
	var s S
	if err := convert(w.Spec, &s); err != nil {
		return s, err
	}
	if t.adapt != nil {
		t.adapt(&s, w)
	}
	return s, nil
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
