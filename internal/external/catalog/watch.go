package catalog

import (
	"context"
	"strings"

	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// A server publishes advisories of streams and consumers that are created,
// changed and deleted (docs.nats.io, "JetStream advisories"). The last token of
// the subject is the name of the stream or consumer.
const (
	streamAdvisories   = "$JS.EVENT.ADVISORY.STREAM.*.*"
	consumerAdvisories = "$JS.EVENT.ADVISORY.CONSUMER.*.*.*"
)

// watchAdvisories watches streams or consumers by their names.
func watchAdvisories(ctx context.Context, c Connections, subject string, names ...string) (Watch, error) {
	return watchSubject(ctx, c, subject, func(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }, names...)
}

// watchKey watches one key of a key-value bucket.
func watchKey(ctx context.Context, c Connections, bucket, key string) (Watch, error) {
	return watchSubject(ctx, c, names.KVSubject(bucket, ">"), keyOf(bucket), key)
}

// watchBucket renews the temporary credentials of the connection, if it has some.
func watchBucket(ctx context.Context, c Connections, _ bucket.Spec) (Watch, error) {
	_, cfg, err := c.S3(ctx)
	if err != nil {
		return nil, err
	}
	return bucket.Renewal(cfg), nil
}

// watchSubject returns a Watch that calls changed at once, for changes since the
// last Observe, and for each message on a subject whose topic is one of the given
// topics.
func watchSubject(ctx context.Context, c Connections, subject string, topic func(string) string, topics ...string) (Watch, error) {
	shared, err := c.Shared(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, changed func()) error {
		news, stop, err := shared.Follow(subject, topic, topics...)
		if err != nil {
			return err
		}
		defer stop()
		changed()
		feed.Each(ctx, news, changed)
		return nil
	}, nil
}

// watchArtifact watches the Job that makes the files, if the spec names one. The
// watch outlives the reconcile that c is for, so it uses only what is shared.
func watchArtifact(ctx context.Context, c Connections, s modelartifact.Spec) (Watch, error) {
	if s.ProgressKey == "" {
		return nil, nil
	}
	shared, err := c.Shared(ctx)
	if err != nil {
		return nil, err
	}
	table := registry.Progress(shared.bus)
	return func(ctx context.Context, changed func()) error {
		news, stop, err := shared.Follow(names.KVSubject(names.ProgressBucket, ">"), keyOf(names.ProgressBucket), s.ProgressKey)
		if err != nil {
			return err
		}
		defer stop()
		return modelartifact.Watch(ctx, news, func(ctx context.Context) (progress.Report, error) {
			r, err := table.Get(ctx, s.ProgressKey)
			return r.Value, err
		}, changed)
	}, nil
}

// keyOf returns the key of a subject of the bucket.
func keyOf(bucket string) func(subject string) string {
	prefix := names.KVSubject(bucket, "")
	return func(subject string) string { return strings.TrimPrefix(subject, prefix) }
}
