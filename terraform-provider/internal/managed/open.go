package managed

import (
	"context"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/internal/external/consumer"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/external/nodes"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/progress"
	"github.com/gorizond/koldun/internal/registry"
	"github.com/gorizond/koldun/terraform-provider/internal/connection"
)

func openBucket(ctx context.Context, c *connection.Connections) (external.Client[bucket.Spec, bucket.Status], error) {
	client, err := c.S3(ctx)
	if err != nil {
		return nil, err
	}
	return bucket.New(client, c.Settings.S3.Region, c.Settings.S3.Env()), nil
}

func openStream(ctx context.Context, c *connection.Connections) (external.Client[stream.Spec, stream.Status], error) {
	b, err := c.Bus(ctx)
	if err != nil {
		return nil, err
	}
	return stream.New(b, c.Settings.NATS.Env()), nil
}

func openKeyValue(ctx context.Context, c *connection.Connections) (external.Client[keyvalue.Spec, keyvalue.Status], error) {
	b, err := c.Bus(ctx)
	if err != nil {
		return nil, err
	}
	return keyvalue.New(b, c.Settings.NATS.Env()), nil
}

func openConsumer(ctx context.Context, c *connection.Connections) (external.Client[consumer.Spec, consumer.Status], error) {
	b, err := c.Bus(ctx)
	if err != nil {
		return nil, err
	}
	return consumer.New(b, c.Settings.NATS.Env()), nil
}

func openToken(ctx context.Context, c *connection.Connections) (external.Client[token.Spec, token.Status], error) {
	b, err := c.Bus(ctx)
	if err != nil {
		return nil, err
	}
	return token.New(b), nil
}

func openModelRecord(ctx context.Context, c *connection.Connections) (external.Client[modelrecord.Spec, modelrecord.Status], error) {
	b, err := c.Bus(ctx)
	if err != nil {
		return nil, err
	}
	return modelrecord.New(c.Open, registry.Models(b)), nil
}

// openModelArtifact reads progress where a NATS server is known.
func openModelArtifact(_ context.Context, c *connection.Connections) (external.Client[modelartifact.Spec, modelartifact.Status], error) {
	reports := func(ctx context.Context, key string) (progress.Report, error) {
		if c.Missing(connection.NATS) != "" {
			return progress.Report{}, fault.Errorf(fault.NotFound, "cannot read progress %q: no NATS server is configured", key)
		}
		b, err := c.Bus(ctx)
		if err != nil {
			return progress.Report{}, err
		}
		r, err := registry.Progress(b).Get(ctx, key)
		return r.Value, err
	}
	return modelartifact.New(c.Open, reports), nil
}

func openNodes(_ context.Context, c *connection.Connections) (external.Client[nodes.Spec, nodes.Status], error) {
	k, err := c.Kube()
	if err != nil {
		return nil, err
	}
	n, err := k.Nodes()
	if err != nil {
		return nil, err
	}
	return nodes.New(n), nil
}
