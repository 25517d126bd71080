// Package responsestore stores responses that later requests may refer to.
package responsestore

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
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
// gateway that stored it, and one tenant has a quarter of the bucket at most. Who knows the
// id of a response can read it, so logs do not name it.
type Store struct {
	bus  *bus.Bus
	ttl  time.Duration
	most int64 // bytes of the bucket
	log  *slog.Logger
}

// A record is a response with the time until which it counts; 0 in those of earlier versions.
type record struct {
	responses.Record
	Until int64 `json:"until,omitempty"`
}

// New returns a store in a bucket of so many bytes that exists.
func New(b *bus.Bus, ttl time.Duration, maxBytes int64, log *slog.Logger) *Store {
	return &Store{bus: b, ttl: ttl, most: maxBytes, log: log}
}

// responseID matches the ids that responses get: another one is no key.
var responseID = regexp.MustCompile(`^resp_[0-9A-HJKMNP-TV-Z]{26}$`)

// Lasting reports that responses can be stored.
func (s *Store) Lasting() bool { return true }

// Get returns a response of a tenant, nil if there is none. Its errors are *openai.Error.
func (s *Store) Get(ctx context.Context, tenant, id string) (*responses.Record, error) {
	found, err := s.get(ctx, tenant, id)
	if found == nil || err != nil {
		return nil, err
	}
	return &found.Record, nil
}

func (s *Store) get(ctx context.Context, tenant, id string) (*record, error) {
	if !responseID.MatchString(id) {
		return nil, nil
	}
	found, _, err := bus.Get[record](ctx, s.bus, names.ResponsesBucket, names.ResponseKey(tenant, id))
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil
	case err != nil:
		s.log.Warn("cannot read a stored response", "tenant", tenant, "error", without(id, err))
		return nil, errUnavailable()
	}
	return &found, nil
}

// Keep stores a response with its whole input if it wants to be stored, and reports whether
// it did: even if its client leaves, because it may ask for it later.
func (s *Store) Keep(ctx context.Context, tenant string, input []responses.Item, r *responses.Response) bool {
	if !r.Store {
		return false
	}
	ctx = context.WithoutCancel(ctx)
	kept := record{Record: *responses.NewRecord(input, r), Until: expiry(time.Now(), s.ttl)}
	counted, err := s.change(ctx, tenant, kept.size(), kept.Until)
	if err == nil && !counted {
		s.log.Warn("a response is not stored: the responses of its tenant fill their part of the bucket", "tenant", tenant, "bytes", s.most/parts)
		return false
	}
	if err == nil {
		if _, err = s.bus.PutTTL(ctx, names.ResponsesBucket, names.ResponseKey(tenant, r.ID), kept, s.ttl); err != nil {
			_, _ = s.change(ctx, tenant, -kept.size(), kept.Until)
		}
	}
	if err != nil {
		s.log.Warn("cannot store a response", "tenant", tenant, "error", without(r.ID, err))
	}
	return err == nil
}

// Remove deletes a response of a tenant, and reports whether there was one. Its errors are
// *openai.Error.
func (s *Store) Remove(ctx context.Context, tenant, id string) (bool, error) {
	found, err := s.get(ctx, tenant, id)
	if found == nil || err != nil {
		return false, err
	}
	if err := s.bus.DeleteTTL(ctx, names.ResponsesBucket, names.ResponseKey(tenant, id), names.MarkerAge); err != nil {
		s.log.Warn("cannot delete a stored response", "tenant", tenant, "error", without(id, err))
		return false, errUnavailable()
	}
	if found.Until > 0 { // if this fails, it counts until it would have expired
		_, _ = s.change(ctx, tenant, -found.size(), found.Until)
	}
	return true, nil
}

// without returns the text of an error without the id of a response.
func without(id string, err error) string { return strings.ReplaceAll(err.Error(), id, "resp_...") }

// size is what a record counts.
func (r *record) size() int64 { return r.Size() + overhead }

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
