// Package managed has the Terraform resources of external resources. There is one
// implementation for all kinds: a row in kinds.go says how Terraform shows a kind,
// the schema follows from its CRD, and the client is that of the catalog.
package managed

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/fault"
)

// A client observes external resources as Terraform shows them.
type client struct{ catalog.Client }

// Observe reports a resource ready once it is up to date. A resource that differs
// in a field which cannot be changed exists: View shows it, and a plan replaces it.
func (c client) Observe(ctx context.Context, r catalog.Resource) (catalog.Observation, error) {
	o, err := c.Client.Observe(ctx, r)
	if c.CanView() && fault.Is(err, fault.Conflict) {
		return catalog.Observation{Exists: true, Message: err.Error()}, nil
	}
	o.Ready = o.Ready && o.UpToDate
	return o, err
}

// stored is the data of the Secret that a connection is kept in. A Terraform
// resource reads no other Secret.
type stored map[string][]byte

var _ catalog.Secrets = stored(nil)

// Secret finds none.
func (s stored) Secret(_ context.Context, name string) (external.Secret, error) {
	return external.Secret{}, fault.Errorf(fault.NotFound, "cannot read Secret %q: Terraform takes secrets from attributes", name)
}

// Labelled finds none.
func (s stored) Labelled(context.Context) ([]external.Secret, error) { return nil, nil }

// Stored returns the data.
func (s stored) Stored(context.Context) (map[string][]byte, error) { return s, nil }

// decode returns the fields of a JSON object, nil of none. Numbers keep all their
// digits.
func decode(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		return nil, fault.Errorf(fault.Internal, "cannot decode an observation: %w", err)
	}
	return out, nil
}
