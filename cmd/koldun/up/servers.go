package up

import (
	"context"
	"crypto/rand"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/local/embedded/s3"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// servers are the embedded ones, which are used where the claims name no others.
// They listen on loopback, with credentials that are new for every run.
type servers struct {
	nats  bus.Config // of this process
	users natsUsers  // of all processes
	s3    s3store.Config
	hub   string // endpoint, empty for huggingface.co
	close []func()
}

func (s *servers) Close() {
	for i := len(s.close) - 1; i >= 0; i-- {
		s.close[i]()
	}
}

// startServers starts them.
func (m *run) startServers(ctx context.Context) (*servers, error) {
	s := &servers{}
	done := false
	defer func() {
		if !done {
			s.Close()
		}
	}()
	if err := m.serveNATS(ctx, s); err != nil {
		return nil, err
	}
	access, secret := rand.Text(), rand.Text()
	store, err := s3.Start(ctx, s3.Config{Dir: m.data.Path("s3"), AccessKey: access, SecretKey: secret, Log: m.log})
	if err != nil {
		return nil, err
	}
	s.close = append(s.close, func() { _ = store.Close() })
	s.s3 = s3store.Config{Endpoint: store.Endpoint(), Region: s3.Region, AccessKey: access, SecretKey: secret}
	if m.cfg.HubDir != "" {
		hub, err := serveHub(ctx, m.cfg.HubDir, m.log)
		if err != nil {
			return nil, err
		}
		s.close = append(s.close, hub.Close)
		s.hub = hub.Endpoint
	}
	done = true
	return s, nil
}
