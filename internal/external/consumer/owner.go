package consumer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// may returns nil if consumers of the stream may be made and deleted, else an error with
// external.ErrNotOwner: where namespaces share a login, the consumer of one could take
// messages that another one waits for, and hold back their removal. A stream that has no
// owner may have consumers of all, unless it is Koldun's.
func (c *Client) may(ctx context.Context, s Spec) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	stream, err := c.bus.JetStream().Stream(ctx, s.Stream)
	if err != nil {
		return bus.Kinded(err)
	}
	mark := stream.CachedInfo().Config.Metadata[external.OwnerKey]
	if mark == "" && !koldun(s.Stream) {
		return nil
	}
	if err := s.Owner.Check(fmt.Sprintf("stream %q", s.Stream), mark); err != nil {
		return fmt.Errorf("only the owner of a stream may have consumers of it: %w", err)
	}
	return nil
}

// koldun reports whether a stream is one of the queue or the registry.
func koldun(stream string) bool {
	return slices.ContainsFunc(names.Streams(), func(s names.Stream) bool { return s.Name == stream }) ||
		slices.ContainsFunc(names.Buckets(), func(b names.Bucket) bool { return names.KVStream(b.Name) == stream }) ||
		strings.HasPrefix(stream, names.KVStream("koldun_"))
}
