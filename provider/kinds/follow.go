package kinds

import (
	"context"
	"strings"

	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/provider/connection"
)

// advisories are the subjects on which a server tells of streams that are
// created, updated and deleted. The last word is the stream (docs.nats.io,
// "JetStream advisories").
const advisories = "$JS.EVENT.ADVISORY.STREAM.*.*"

// last word of a subject.
func last(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }

// follow calls changed at once, for what came between the last look and now, and
// whenever something passes on a subject for which topic
// returns one of the given ones, until ctx ends.
func follow(ctx context.Context, l *connection.Line, subject string, topic func(string) string, changed func(), of ...string) error {
	news, stop, err := l.Follow(ctx, subject, topic, of...)
	if err != nil {
		return err
	}
	defer stop()
	changed()
	feed.Each(ctx, news, changed)
	return nil
}
