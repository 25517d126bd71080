package kinds

import (
	"context"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/progress"
	"github.com/gorizond/koldun/internal/registry"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connection"
)

func modelArtifacts() adapter.Any {
	verifier := modelartifact.NewVerifier()
	return adapter.Kind[*v1alpha1.ModelArtifact, modelartifact.Spec, modelartifact.Status]{
		Name:   v1alpha1.KindModelArtifact,
		Fields: func(m *v1alpha1.ModelArtifact) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
		Open: func(_ context.Context, c *connection.Set) (external.Client[modelartifact.Spec, modelartifact.Status], error) {
			return modelartifact.NewInBackground(c.Store, func(ctx context.Context, key string) (progress.Report, error) {
				b, _, err := c.NATS(ctx)
				if err != nil {
					return progress.Report{}, err
				}
				r, err := registry.Progress(b).Get(ctx, key)
				return r.Value, err
			}, verifier), nil
		},
		Complete: func(_ context.Context, _ *connection.Set, m *v1alpha1.ModelArtifact, s *modelartifact.Spec) error {
			s.Verified = m.Status.AtProvider.Verified
			return nil
		},
		Busy: func(m *v1alpha1.ModelArtifact) bool {
			return m.Status.AtProvider.Whole && m.Status.AtProvider.Verified != m.Spec.ForProvider.Verify
		},
		End:          verifier.Close,
		ExternalName: func(s modelartifact.Spec) string { return s.URL },
		Watch: func(ctx context.Context, l *connection.Line, s modelartifact.Spec, changed func()) error {
			if s.ProgressKey == "" {
				return nil
			}
			news, stop, err := l.Follow(ctx, writes(names.ProgressBucket), keyOf(names.ProgressBucket), s.ProgressKey)
			if err != nil {
				return err
			}
			defer stop()
			return modelartifact.Watch(ctx, news, func(ctx context.Context) (progress.Report, error) {
				b, err := l.Connected(ctx)
				if err != nil {
					return progress.Report{}, err
				}
				r, err := registry.Progress(b).Get(ctx, s.ProgressKey)
				return r.Value, err
			}, changed)
		},
	}
}
