// Package responsestore stores responses that later requests may refer to.
package responsestore

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/openai/responses"
)

// Ensure makes the bucket of responses, which take up to so many bytes.
func Ensure(ctx context.Context, b *bus.Bus, maxBytes int64) error {
	return b.AdoptKV(ctx, bus.KVSpec{Bucket: names.Responses(), MaxBytes: maxBytes})
}

// A Store is a bucket that gateways share. Each response expires after the TTL of the
// gateway that stored it.
type Store struct {
	bus *bus.Bus
	ttl time.Duration
	log *slog.Logger
}

// New returns a store in a bucket that exists.
func New(b *bus.Bus, ttl time.Duration, log *slog.Logger) *Store {
	return &Store{bus: b, ttl: ttl, log: log}
}

// responseID matches the ids that responses get: another one is no key.
var responseID = regexp.MustCompile(`^resp_[0-9A-HJKMNP-TV-Z]{26}$`)

// Lasting reports that responses can be stored.
func (s *Store) Lasting() bool { return true }

// Get returns a response of a tenant, nil if there is none. Its errors are *openai.Error.
func (s *Store) Get(ctx context.Context, tenant, id string) (*responses.Record, error) {
	if !responseID.MatchString(id) {
		return nil, nil
	}
	record, _, err := bus.Get[responses.Record](ctx, s.bus, names.ResponsesBucket, names.ResponseKey(tenant, id))
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil
	case err != nil:
		s.log.Warn("cannot read a stored response", "response", id, "error", err)
		return nil, errUnavailable()
	}
	return &record, nil
}

// Keep stores a response with its whole input if it wants to be stored, and reports whether
// it did: even if its client leaves, because it may ask for it later.
func (s *Store) Keep(ctx context.Context, tenant string, input []responses.Item, r *responses.Response) bool {
	if !r.Store {
		return false
	}
	_, err := s.bus.PutTTL(context.WithoutCancel(ctx), names.ResponsesBucket, names.ResponseKey(tenant, r.ID), responses.NewRecord(input, r), s.ttl)
	if err != nil {
		s.log.Warn("cannot store a response", "response", r.ID, "tenant", tenant, "error", err)
	}
	return err == nil
}

// Remove deletes a response of a tenant, and reports whether there was one. Its errors are
// *openai.Error.
func (s *Store) Remove(ctx context.Context, tenant, id string) (bool, error) {
	record, err := s.Get(ctx, tenant, id)
	if record == nil || err != nil {
		return false, err
	}
	if err := s.bus.DeleteTTL(ctx, names.ResponsesBucket, names.ResponseKey(tenant, id), names.MarkerAge); err != nil {
		s.log.Warn("cannot delete a stored response", "response", id, "error", err)
		return false, errUnavailable()
	}
	return true, nil
}

func errUnavailable() *openai.Error {
	return &openai.Error{
		Status: http.StatusServiceUnavailable, Type: openai.ServerError, Code: "store_unavailable",
		Message: "The stored responses cannot be reached at the moment. Try again later.",
	}
}

// None stores nothing.
type None struct{}

// Lasting reports that no response can be stored.
func (None) Lasting() bool { return false }

// Get returns nil.
func (None) Get(context.Context, string, string) (*responses.Record, error) { return nil, nil }

// Keep returns false.
func (None) Keep(context.Context, string, []responses.Item, *responses.Response) bool {
	return false
}

// Remove returns false.
func (None) Remove(context.Context, string, string) (bool, error) { return false, nil }
