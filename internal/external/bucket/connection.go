package bucket

import (
	"context"
	"encoding/json"
	"time"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// connections returns the settings of the service for workloads, with the credentials that
// they get.
type connections struct {
	config s3store.Config
	now    func() time.Time
}

// of returns the settings of the service for workloads. A stored key that is no
// longer one of them is nil, which removes it from the Secret: a writer that merges would
// leave credentials there that workloads must not have, or that end.
func (c connections) of(ctx context.Context, s Spec) (map[string][]byte, error) {
	out, err := c.settings(ctx, s)
	if err != nil {
		return nil, err
	}
	for key := range s.Stored {
		if _, ok := out[key]; !ok {
			out[key] = nil
		}
	}
	return out, nil
}

// settings returns those of the service for workloads. If workloads get temporary
// credentials, those that were stored before stay while more than half of their life is
// left.
func (c connections) settings(ctx context.Context, s Spec) (map[string][]byte, error) {
	if !c.config.Temporary() {
		return c.config.Env(), nil
	}
	policy, err := c.config.Policy(c.accesses(s))
	if err != nil {
		return nil, err
	}
	session, err := s3store.ParseSession(s.Stored[names.EnvS3Credentials])
	if err != nil || session.Rights != c.config.Rights(policy) || session.Expiration.Sub(c.now()) <= c.config.STS.Life/2 {
		if session, err = c.config.Assume(ctx, names.Join(64, "koldun", s.Owner.Namespace, s.BucketName), policy); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(session) //nolint:gosec // for the Secret of the pods
	if err != nil {
		return nil, fault.As(fault.Internal, err)
	}
	return s3store.Config{
		Endpoint: c.config.Endpoint, Region: c.config.Region, Addressing: c.config.Addressing, PlainParts: c.config.PlainParts,
		CA: c.config.CA, CAFile: c.config.CAFile, Credentials: string(text),
	}.Env(), nil
}

// accesses returns what the credentials may do. Without a list that is all that the
// namespace may do in the bucket.
func (c connections) accesses(s Spec) []s3store.Access {
	var out []s3store.Access
	for _, a := range s.Access {
		out = append(out, s3store.Access(a))
	}
	if len(out) == 0 {
		out = []s3store.Access{{Prefix: c.config.Bound.FolderIn(), Write: true}}
	}
	return s3store.Within(s.BucketName, out)
}

const (
	// looks is how often in a life credentials are observed.
	looks = 16
	// longestLook bounds the time between, because a life may become shorter.
	longestLook = time.Minute
)

// Renewal returns the watch that has the credentials observed often enough to be renewed
// in time, nil if there are none.
func Renewal(cfg s3store.Config) func(ctx context.Context, changed func()) error {
	if !cfg.Temporary() {
		return nil
	}
	return func(ctx context.Context, changed func()) error {
		return external.Every(ctx, min(cfg.STS.Life/looks, longestLook), changed)
	}
}
