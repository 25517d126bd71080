package gateway

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

// A responseStore holds responses that later requests may refer to. Each belongs to a tenant.
type responseStore interface {
	// lasting reports whether responses can be stored.
	lasting() bool
	// get returns a response, nil if there is none. Its errors are *openai.Error.
	get(ctx context.Context, tenant, id string) (*responses.Record, error)
	// keep gets a complete response with its whole input, and reports whether it is
	// stored. It stores only what wants to be.
	keep(ctx context.Context, tenant string, input []responses.Item, r *responses.Response) bool
	// remove deletes a response, and reports whether there was one.
	remove(ctx context.Context, tenant, id string) (bool, error)
}

func newResponseStore(b *bus.Bus, cfg Config) responseStore {
	if cfg.ResponsesTTL == 0 {
		return noStore{}
	}
	return &bucketStore{bus: b, ttl: cfg.ResponsesTTL, log: cfg.Logger}
}

// noStore stores nothing.
type noStore struct{}

func (noStore) lasting() bool { return false }

func (noStore) get(context.Context, string, string) (*responses.Record, error) { return nil, nil }

func (noStore) keep(context.Context, string, []responses.Item, *responses.Response) bool {
	return false
}

func (noStore) remove(context.Context, string, string) (bool, error) { return false, nil }

// A bucketStore is a bucket that gateways share. Each response expires after the TTL of
// the gateway that stored it.
type bucketStore struct {
	bus *bus.Bus
	ttl time.Duration
	log *slog.Logger
}

// ensureResponses makes the bucket if responses are to be stored.
func ensureResponses(ctx context.Context, b *bus.Bus, cfg Config) error {
	if cfg.ResponsesTTL == 0 {
		return nil
	}
	return b.AdoptKV(ctx, bus.KVSpec{Bucket: names.Responses(), MaxBytes: cfg.ResponsesMaxBytes})
}

// responseID matches the ids that responses get: another one is no key.
var responseID = regexp.MustCompile(`^resp_[0-9A-HJKMNP-TV-Z]{26}$`)

func (s *bucketStore) lasting() bool { return true }

func (s *bucketStore) get(ctx context.Context, tenant, id string) (*responses.Record, error) {
	if !responseID.MatchString(id) {
		return nil, nil
	}
	record, _, err := bus.Get[responses.Record](ctx, s.bus, names.ResponsesBucket, names.ResponseKey(tenant, id))
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil
	case err != nil:
		s.log.Warn("cannot read a stored response", "response", id, "error", err)
		return nil, &errNoStore().Error
	}
	return &record, nil
}

// keep stores a response even if its client leaves: it may ask for it later.
func (s *bucketStore) keep(ctx context.Context, tenant string, input []responses.Item, r *responses.Response) bool {
	if !r.Store {
		return false
	}
	_, err := s.bus.PutTTL(context.WithoutCancel(ctx), names.ResponsesBucket, names.ResponseKey(tenant, r.ID), responses.NewRecord(input, r), s.ttl)
	if err != nil {
		s.log.Warn("cannot store a response", "response", r.ID, "tenant", tenant, "error", err)
	}
	return err == nil
}

func (s *bucketStore) remove(ctx context.Context, tenant, id string) (bool, error) {
	record, err := s.get(ctx, tenant, id)
	if record == nil || err != nil {
		return false, err
	}
	if err := s.bus.DeleteTTL(ctx, names.ResponsesBucket, names.ResponseKey(tenant, id), names.MarkerAge); err != nil {
		s.log.Warn("cannot delete a stored response", "response", id, "error", err)
		return false, &errNoStore().Error
	}
	return true, nil
}

func errNoStore() *refusal {
	return &refusal{retryAfter: 5 * time.Second, Error: openai.Error{
		Status: http.StatusServiceUnavailable, Type: openai.ServerError, Code: "store_unavailable",
		Message: "The stored responses cannot be reached at the moment. Try again later.",
	}}
}

func errNoResponse(id string) *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusNotFound, Type: openai.InvalidRequest, Param: "id", Code: "response_not_found",
		Message: "The response '" + shown(id) + "' is not stored here: it never was, or it has expired.",
	}}
}
