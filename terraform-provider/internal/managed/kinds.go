package managed

import (
	"context"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/internal/external/consumer"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/progress"
	"github.com/gorizond/koldun/internal/registry"
	"github.com/gorizond/koldun/terraform-provider/internal/connection"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/identity"
)

// A Kind is what there is to say of a resource beside its CRD.
type Kind struct {
	Name     string // in Terraform, without "koldun_"
	Plural   string // of the CRD
	Identity identity.Attributes
	Needs    []connection.System
	// Durations are fields where "60s" and "1m" mean the same.
	Durations []string
	// Ready is how long creating and updating wait until the thing is ready.
	Ready time.Duration
	// Owner says that the thing is known by a name of its own, which is the
	// attribute "name" and not part of what is outside.
	Owner bool
	// Digest is the field that holds the SHA-256 of the write-only attribute
	// secret_wo; "" if there is no such secret.
	Digest string
	// Omit are fields that Terraform does not offer; see why where they are.
	Omit []string
	// Empty are lists and maps of which an empty one means the same as none.
	Empty []string
	// Defaults of fields that stay as they are in a cluster when they are left
	// out. Here a thing is wholly Terraform's, so that the plan says what it gets.
	Defaults map[string]any
	// Fixed are fields that cannot be changed in place, where the CRD says so
	// by a rule of the whole spec.
	Fixed []string
	// Kept are fields that mean "as it is" where they are left out.
	Kept []string
	// Shared things exist whoever made them: there is nothing to adopt.
	Shared bool

	open func(context.Context, *connection.Connections) (Thing, error)
}

// Kinds are all resources of outside things.
func Kinds() []Kind {
	const brief = 2 * time.Minute
	return []Kind{
		row("bucket", "buckets", []string{"bucket_name"}, brief, openBucket, connection.S3),
		streamRow(),
		keyValueRow(),
		consumerRow(),
		tokenRow(),
		row("model_record", "modelrecords", []string{"namespace", "name"}, brief, openModelRecord, connection.NATS),
		artifactRow(),
	}
}

func streamRow() Kind {
	k := row("stream", "streams", []string{"name"}, 2*time.Minute, openStream, connection.NATS)
	k.Defaults = map[string]any{"discard": "old", "duplicateWindow": "2m", "replicas": int64(1)}
	return k
}

// consumerRow fixes what its CRD makes immutable by rules over all fields.
func consumerRow() Kind {
	k := row("consumer", "consumers", []string{"stream", "name"}, 2*time.Minute, openConsumer, connection.NATS)
	k.Fixed = []string{"deliverPolicy", "ackPolicy", "replayPolicy", "startSequence", "startTime"}
	k.Empty = []string{"filterSubjects", "backoff"}
	k.Defaults = map[string]any{"deliverPolicy": "All", "ackPolicy": "Explicit", "replayPolicy": "Instant"}
	return k
}

// keyValueRow leaves a bucket the history that it has.
func keyValueRow() Kind {
	k := row("key_value", "keyvalues", []string{"bucket"}, 2*time.Minute, openKeyValue, connection.NATS)
	k.Kept = []string{"history"}
	k.Defaults = map[string]any{"replicas": int64(1)}
	return k
}

// tokenRow has no secret_ref, because Terraform takes the token itself as a
// write-only value, and no rotate_after: nobody is there to rotate between two
// applies.
func tokenRow() Kind {
	k := row("token", "tokens", []string{attrName}, 2*time.Minute, openToken, connection.NATS)
	k.Owner, k.Digest = true, "sha256"
	k.Omit, k.Empty = []string{"secretRef", "rotateAfter"}, []string{"models", "metadata"}
	return k
}

// artifactRow waits for files that Jobs make.
func artifactRow() Kind {
	k := row("model_artifact", "modelartifacts", []string{"url"}, 6*time.Hour, openModelArtifact, connection.S3)
	k.Shared = true
	return k
}

func row[S, O any](name, plural string, identity []string, ready time.Duration,
	open func(context.Context, *connection.Connections) (external.Client[S, O], error), needs ...connection.System,
) Kind {
	return Kind{
		Name: name, Plural: plural, Identity: identity, Needs: needs, Durations: durations[S](), Ready: ready,
		open: func(ctx context.Context, c *connection.Connections) (Thing, error) {
			client, err := open(ctx, c)
			if err != nil {
				return nil, err
			}
			return erase(client), nil
		},
	}
}

// load reads the kind's CRD.
func (k Kind) load() (*crd.Kind, error) {
	c, err := crd.Load(crd.Managed, k.Plural)
	if err != nil {
		return nil, err
	}
	for _, name := range k.Durations {
		if f := c.Spec.Child(name); f != nil {
			f.Duration = true
			if f.Elem != nil {
				f.Elem.Duration = true
			}
		}
	}
	c.Spec.Fields = slices.DeleteFunc(c.Spec.Fields, func(f *crd.Field) bool { return slices.Contains(k.Omit, f.Name) })
	for _, name := range k.Fixed {
		if f := c.Spec.Child(name); f != nil {
			f.Immutable = true
		}
	}
	for name, value := range k.Defaults {
		if f := c.Spec.Child(name); f != nil {
			f.Default = value
		}
	}
	for _, name := range k.Empty {
		if f := c.Spec.Child(name); f != nil {
			f.Empty = true
		}
	}
	return c, nil
}

func openBucket(ctx context.Context, c *connection.Connections) (external.Client[bucket.Spec, bucket.Status], error) {
	client, err := c.S3(ctx)
	if err != nil {
		return nil, err
	}
	return bucket.New(client, c.Settings.S3.Region, nil), nil
}

func openStream(ctx context.Context, c *connection.Connections) (external.Client[stream.Spec, stream.Status], error) {
	b, err := c.Bus(ctx)
	if err != nil {
		return nil, err
	}
	return stream.New(b, nil), nil
}

func openKeyValue(ctx context.Context, c *connection.Connections) (external.Client[keyvalue.Spec, keyvalue.Status], error) {
	b, err := c.Bus(ctx)
	if err != nil {
		return nil, err
	}
	return keyvalue.New(b, nil), nil
}

func openConsumer(ctx context.Context, c *connection.Connections) (external.Client[consumer.Spec, consumer.Status], error) {
	b, err := c.Bus(ctx)
	if err != nil {
		return nil, err
	}
	return consumer.New(b, nil), nil
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
