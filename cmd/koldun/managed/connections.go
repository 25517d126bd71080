package managed

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/nodes"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/external/workloadstatus"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
	s3store "github.com/gorizond/koldun/internal/objectstore/s3"
)

// connections are those of all managed resources.
type connections struct {
	cfg    Config
	s3     *s3.Client
	shared *catalog.Shared
}

var _ catalog.Connections = (*connections)(nil)

func (c *connections) NATS(context.Context) (*bus.Bus, map[string][]byte, error) {
	return c.cfg.Bus, c.cfg.NATS, nil
}

func (c *connections) Shared(context.Context) (*catalog.Shared, error) { return c.shared, nil }

func (c *connections) S3(context.Context) (*s3.Client, s3store.Config, error) {
	return c.s3, c.cfg.S3, nil
}

func (c *connections) Hub(ctx context.Context, endpoint, token string) (hubrevision.Hub, error) {
	return c.cfg.Hubs(ctx, endpoint, token)
}

func (c *connections) Nodes(context.Context) (*nodes.Client, error) {
	return nil, fault.Errorf(fault.Unsupported, "one machine has no nodes to label")
}

func (c *connections) Workloads(context.Context) (*workloadstatus.Client, error) {
	return nil, fault.Errorf(fault.Unsupported, "pods are processes of this machine: koldun up prints how they end")
}

// Verifier is nil: a look at an artifact ends when the files are verified.
func (c *connections) Verifier() *modelartifact.Verifier { return nil }

// secrets are those that one managed resource refers to.
type secrets struct {
	all        func(namespace string) []local.Secret
	namespace  string
	connection string // Secret that its connection is written to; "" for none
}

var _ catalog.Secrets = secrets{}

func (s secrets) Secret(_ context.Context, name string) (external.Secret, error) {
	for _, one := range s.all(s.namespace) {
		if one.Name == name {
			return external.Secret(one), nil
		}
	}
	return external.Secret{}, fault.Errorf(fault.NotFound, "Secret %q does not exist", name)
}

func (s secrets) Labelled(context.Context) ([]external.Secret, error) {
	var out []external.Secret
	for _, one := range s.all(s.namespace) {
		if _, ok := one.Labels[token.LabelSecret]; ok {
			out = append(out, external.Secret(one))
		}
	}
	return out, nil
}

func (s secrets) Stored(ctx context.Context) (map[string][]byte, error) {
	if s.connection == "" {
		return nil, nil
	}
	secret, err := s.Secret(ctx, s.connection)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return secret.Data, err
}
