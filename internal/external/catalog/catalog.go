// Package catalog lists the managed kinds: for each, once, how the client of its
// external resources is opened from connections, and how its spec is completed
// from the rest of the managed resource.
//
// The Crossplane provider, the Terraform provider and koldun up implement
// [Connections] and handle all kinds through [Entry] and [Client], which carry
// specs and statuses as JSON. A spec has the fields of spec.forProvider of the
// kind's CRD, and a status those of status.atProvider.
//
// A kind whose managed resources only observe is one of v1alpha1.ObserveOnly.
package catalog

import (
	"cmp"
	"context"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/internal/external/consumer"
	"github.com/gorizond/koldun/internal/external/demand"
	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/external/natsaccount"
	"github.com/gorizond/koldun/internal/external/natsuser"
	"github.com/gorizond/koldun/internal/external/nodes"
	"github.com/gorizond/koldun/internal/external/part"
	"github.com/gorizond/koldun/internal/external/pool"
	"github.com/gorizond/koldun/internal/external/queue"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/external/tokenset"
	"github.com/gorizond/koldun/internal/external/workloadstatus"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/network/egress"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// Entries returns all managed kinds, by name.
func Entries() []Entry {
	sessions, composites, dllamas := demand.Sessions(), part.Composites(), pool.Dllamas()
	return []Entry{
		Erase(row[bucket.Spec, bucket.Status]{
			kind: "Bucket", system: S3, open: openBucket, complete: completeBucket, owned: true, watch: watchBucket,
			externalName: func(s bucket.Spec) string { return s.BucketName },
		}),
		Erase(row[consumer.Spec, consumer.Status]{
			kind: "Consumer", system: NATS, lateInitialize: true, open: openConsumer, complete: completeConsumer, owned: true,
			externalName: func(s consumer.Spec) string { return s.Name },
			watch: func(ctx context.Context, c Connections, s consumer.Spec) (Watch, error) {
				return watchAdvisories(ctx, c, consumerAdvisories, s.Name)
			},
		}),
		Erase(row[demand.Spec, demand.Status]{
			kind: "Demand", system: NATS, open: openDemand, complete: completeDemand, dependents: &sessions,
		}),
		Erase(row[hubrevision.Spec, hubrevision.Status]{
			kind: "HubRevision", system: Hub, open: openHubRevision, complete: completeRevision,
		}),
		Erase(row[keyvalue.Spec, keyvalue.Status]{
			kind: "KeyValue", system: NATS, lateInitialize: true, open: openKeyValue, complete: completeKeyValue, owned: true,
			externalName: func(s keyvalue.Spec) string { return s.Bucket },
			watch: func(ctx context.Context, c Connections, s keyvalue.Spec) (Watch, error) {
				return watchAdvisories(ctx, c, streamAdvisories, names.KVStream(s.Bucket))
			},
		}),
		Erase(row[modelartifact.Spec, modelartifact.Status]{
			kind: "ModelArtifact", system: S3, open: openModelArtifact, complete: completeArtifact, owned: true, watch: watchArtifact,
			externalName: func(s modelartifact.Spec) string { return s.URL },
			pending:      func(s modelartifact.Spec, o modelartifact.Status) bool { return o.Whole && o.Verified != s.Verify },
		}),
		Erase(row[modelrecord.Spec, modelrecord.Status]{
			kind: "ModelRecord", system: NATS, open: openModelRecord, complete: completeRecord,
			externalName: func(s modelrecord.Spec) string { return names.ModelKey(s.Namespace, s.Name) },
			watch: func(ctx context.Context, c Connections, s modelrecord.Spec) (Watch, error) {
				return watchKey(ctx, c, names.ModelsBucket, names.ModelKey(s.Namespace, s.Name))
			},
		}),
		Erase(row[natsaccount.Spec, natsaccount.Status]{
			kind: "NATSAccount", system: NATS, open: openNATSAccount,
			externalName: func(s natsaccount.Spec) string { return s.Namespace },
		}),
		Erase(row[natsuser.Spec, natsuser.Status]{
			kind: "NATSUser", system: NATS, open: openNATSUser, complete: completeUser,
		}),
		Erase(row[nodes.Spec, nodes.Status]{
			kind: "NodeLabelRule", system: Kubernetes, open: openNodes, complete: completeRule,
		}),
		Erase(row[part.Spec, part.Status]{
			kind: "Part", system: Kubernetes, open: openPart, dependents: &composites,
		}),
		Erase(row[pool.Spec, pool.Status]{
			kind: "Pool", system: NATS, open: openPool, complete: completePool, dependents: &dllamas,
		}),
		Erase(row[queue.Spec, queue.Status]{
			kind: "Queue", system: NATS, lateInitialize: true, open: openQueue, complete: completeQueue, owned: true,
			watch: func(ctx context.Context, c Connections, s queue.Spec) (Watch, error) {
				var streams []string
				for _, p := range s.Streams {
					streams = append(streams, p.Name)
				}
				for _, p := range s.KeyValues {
					streams = append(streams, names.KVStream(p.Bucket))
				}
				return watchAdvisories(ctx, c, streamAdvisories, streams...)
			},
		}),
		Erase(row[stream.Spec, stream.Status]{
			kind: "Stream", system: NATS, lateInitialize: true, open: openStream, complete: completeStream, owned: true,
			externalName: func(s stream.Spec) string { return s.Name },
			watch: func(ctx context.Context, c Connections, s stream.Spec) (Watch, error) {
				return watchAdvisories(ctx, c, streamAdvisories, s.Name)
			},
		}),
		Erase(row[token.Spec, token.Status]{
			kind: "Token", system: NATS, open: openToken, complete: completeToken,
			tokens: func(s token.Spec) string { return s.Bucket },
		}),
		Erase(row[tokenset.Spec, tokenset.Status]{
			kind: "TokenSet", system: NATS, open: openTokenSet, complete: completeTokens,
			tokens: func(s tokenset.Spec) string { return s.Bucket },
		}),
		Erase(row[workloadstatus.Spec, workloadstatus.Status]{
			kind: "WorkloadStatus", system: Kubernetes, open: openWorkloadStatus, complete: completeWorkloadStatus,
		}),
	}
}

func openBucket(ctx context.Context, c Connections) (external.Client[bucket.Spec, bucket.Status], error) {
	client, cfg, err := c.S3(ctx)
	if err != nil {
		return nil, err
	}
	further, err := c.EgressPorts(ctx, S3)
	if err != nil {
		return nil, err
	}
	const amazon = "https://s3.amazonaws.com"
	return bucket.New(client, cfg).Reached(egress.Union(egress.Ports("https", cmp.Or(cfg.Endpoint, amazon)), further)), nil
}

func openConsumer(ctx context.Context, c Connections) (external.Client[consumer.Spec, consumer.Status], error) {
	b, env, err := c.NATS(ctx)
	if err != nil {
		return nil, err
	}
	return consumer.New(b, env), nil
}

func openDemand(ctx context.Context, c Connections) (external.Client[demand.Spec, demand.Status], error) {
	return sharedClient(ctx, c, "Demand", demand.New)
}

func openHubRevision(ctx context.Context, c Connections) (external.Client[hubrevision.Spec, hubrevision.Status], error) {
	further, err := c.EgressPorts(ctx, Hub)
	return hubrevision.New(c.Hub).Reached(further), err
}

func openKeyValue(ctx context.Context, c Connections) (external.Client[keyvalue.Spec, keyvalue.Status], error) {
	b, env, err := c.NATS(ctx)
	if err != nil {
		return nil, err
	}
	of, ports, err := natsOf(ctx, c, env)
	return keyvalue.New(b, env).Of(of, ports), err
}

func openModelArtifact(_ context.Context, c Connections) (external.Client[modelartifact.Spec, modelartifact.Status], error) {
	return modelartifact.New(stores(c), reports(c), c.Verifier()), nil
}

func openModelRecord(ctx context.Context, c Connections) (external.Client[modelrecord.Spec, modelrecord.Status], error) {
	b, _, err := c.NATS(ctx)
	if err != nil {
		return nil, err
	}
	return modelrecord.New(stores(c), registry.Models(b)), nil
}

func openNATSAccount(ctx context.Context, c Connections) (external.Client[natsaccount.Spec, natsaccount.Status], error) {
	o, err := operator(ctx, c)
	if err != nil {
		return nil, err
	}
	return natsaccount.New(o.Accounts), nil
}

func openNATSUser(ctx context.Context, c Connections) (external.Client[natsuser.Spec, natsuser.Status], error) {
	o, err := operator(ctx, c)
	if err != nil {
		return nil, err
	}
	return natsuser.New(o.Accounts, o.Address), nil
}

func openNodes(ctx context.Context, c Connections) (external.Client[nodes.Spec, nodes.Status], error) {
	client, err := c.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	return client, nil
}

func openPart(context.Context, Connections) (external.Client[part.Spec, part.Status], error) {
	return part.Client{}, nil
}

func openPool(ctx context.Context, c Connections) (external.Client[pool.Spec, pool.Status], error) {
	return sharedClient(ctx, c, "Pool", pool.New)
}

func openQueue(ctx context.Context, c Connections) (external.Client[queue.Spec, queue.Status], error) {
	b, env, err := c.NATS(ctx)
	if err != nil {
		return nil, err
	}
	of, ports, err := natsOf(ctx, c, env)
	return queue.New(stream.New(b, nil), keyvalue.New(b, nil), env).Of(of, ports), err
}

func openStream(ctx context.Context, c Connections) (external.Client[stream.Spec, stream.Status], error) {
	b, env, err := c.NATS(ctx)
	if err != nil {
		return nil, err
	}
	return stream.New(b, env), nil
}

func openToken(ctx context.Context, c Connections) (external.Client[token.Spec, token.Status], error) {
	return sharedClient(ctx, c, "Token", token.New)
}

func openTokenSet(ctx context.Context, c Connections) (external.Client[tokenset.Spec, tokenset.Status], error) {
	b, _, err := c.NATS(ctx)
	if err != nil {
		return nil, err
	}
	return tokenset.New(b), nil
}

func openWorkloadStatus(ctx context.Context, c Connections) (external.Client[workloadstatus.Spec, workloadstatus.Status], error) {
	client, err := c.Workloads(ctx)
	if err != nil {
		return nil, err
	}
	return client, nil
}
