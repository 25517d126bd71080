package kinds

import (
	"context"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connection"
)

func buckets() adapter.Any {
	return adapter.Kind[*v1alpha1.Bucket, bucket.Spec, bucket.Status]{
		Name:   v1alpha1.KindBucket,
		Fields: func(m *v1alpha1.Bucket) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
		Open: func(ctx context.Context, c *connection.Set) (external.Client[bucket.Spec, bucket.Status], error) {
			client, cfg, err := c.S3(ctx)
			return bucket.New(client, cfg.Region, cfg.Env()), err
		},
		ExternalName: func(s bucket.Spec) string { return s.BucketName },
	}
}
