package managed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/external/nodes"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/external/workloadstatus"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/provider/connpool"
)

// connections are those of one managed resource during one call.
type connections struct {
	*connpool.Set
	client *Client
	// claimed means that a server of the claims was used, or was to be.
	claimed bool
	// failed is the last error of opening a connection.
	failed error
}

var _ catalog.Connections = (*connections)(nil)

func (c *connections) NATS(ctx context.Context) (*bus.Bus, map[string][]byte, error) {
	b, env, err := c.Set.NATS(ctx)
	c.use(NATS, bus.Config{URL: string(env[names.EnvNATSURL])}.Address(), c.client.cfg.NATS.Address(), err)
	return b, env, err
}

func (c *connections) Shared(ctx context.Context) (*catalog.Shared, error) {
	if _, _, err := c.NATS(ctx); err != nil {
		return nil, err
	}
	return c.Set.Shared(ctx)
}

func (c *connections) S3(ctx context.Context) (*s3.Client, s3store.Config, error) {
	client, cfg, err := c.Set.S3(ctx)
	c.use(S3, cfg.Endpoint, c.client.cfg.S3.Endpoint, err)
	return client, cfg, err
}

// line identifies the connection to NATS that was used; nil if none was.
func (c *connections) line() *connpool.Line {
	line, _ := c.Identity().(*connpool.Line)
	return line
}

// use reports the first use of a server.
func (c *connections) use(s System, address, embedded string, err error) {
	c.claimed = c.claimed || address != embedded
	if err != nil {
		c.failed = err
	} else {
		c.client.uses.add(Use{System: s, Address: address, Embedded: address == embedded})
	}
}

// advise says how to mend an error of a server of the claims. What is not found on
// a server that was reached is no such error.
func (c *connections) advise(err error) error {
	if !c.claimed || c.client.cfg.EmbeddedOnly {
		return err
	}
	missing := fault.Is(err, fault.NotFound) && errors.Is(err, c.failed)
	if !missing && !fault.Is(err, fault.Transient) && !fault.Is(err, fault.Denied) {
		return err
	}
	return fmt.Errorf("%w; the claims name it: correct them, or run koldun up --embedded", err)
}

func (c *connections) Nodes(context.Context) (*nodes.Client, error) {
	return nil, fault.Errorf(fault.Unsupported, "one machine has no nodes to label")
}

func (c *connections) Workloads(context.Context) (*workloadstatus.Client, error) {
	return nil, fault.Errorf(fault.Unsupported, "pods are processes of this machine: koldun up prints how they end")
}

// Common is false: all namespaces are of one user.
func (c *connections) Common(context.Context, catalog.System) (bool, error) { return false, nil }

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
	if one, ok := find(s.all(s.namespace), name); ok {
		return one, nil
	}
	return external.Secret{}, fault.Errorf(fault.NotFound, "Secret %q does not exist", name)
}

// find returns the Secret of that name, and whether there is one.
func find(all []local.Secret, name string) (external.Secret, bool) {
	i := slices.IndexFunc(all, func(one local.Secret) bool { return one.Name == name })
	if i < 0 {
		return external.Secret{}, false
	}
	return external.Secret(all[i]), true
}

func (s secrets) Labelled(context.Context) ([]external.Secret, error) {
	return labelled(s.all(s.namespace)), nil
}

// labelled selects the Secrets with the label of API tokens, whatever its value.
func labelled(all []local.Secret) (out []external.Secret) {
	for _, one := range all {
		if _, ok := one.Labels[token.LabelSecret]; ok {
			out = append(out, external.Secret(one))
		}
	}
	return out
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
