package nats_test

import (
	"context"
	"errors"
	"net"
	"testing"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/test/waittest"
)

func TestDataOutlivesTheServer(t *testing.T) {
	srv := natstest.Start(t)
	publish := func() uint64 {
		nc, err := client.Connect(srv.URL(), client.UserInfo(natstest.User, natstest.Password))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		ctx := waittest.Context(t)
		if _, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
			t.Fatal(err)
		}
		ack, err := js.Publish(ctx, "s", []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		return ack.Sequence
	}
	url := srv.URL()
	if seq := publish(); seq != 1 {
		t.Fatalf("first sequence = %d, want 1", seq)
	}
	srv.Restart()
	if srv.URL() != url {
		t.Errorf("address after restart = %s, want %s", srv.URL(), url)
	}
	if seq := publish(); seq != 2 {
		t.Errorf("sequence after restart = %d, want 2", seq)
	}
	if nc, err := client.Connect(url); !errors.Is(err, client.ErrAuthorization) {
		nc.Close()
		t.Errorf("connect without credentials: %v, want %v", err, client.ErrAuthorization)
	}
}

func TestStartRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	cases := map[string]struct {
		cfg  nats.Config
		want fault.Kind
	}{
		"NoFolder":      {nats.Config{}, fault.Invalid},
		"PortInUse":     {nats.Config{Dir: t.TempDir(), Listen: l.Addr().String()}, fault.Conflict},
		"NotLoopback":   {nats.Config{Dir: t.TempDir(), Listen: "0.0.0.0:0"}, fault.Invalid},
		"NoPort":        {nats.Config{Dir: t.TempDir(), Listen: "127.0.0.1"}, fault.Invalid},
		"PortTooLarge":  {nats.Config{Dir: t.TempDir(), Listen: "127.0.0.1:70000"}, fault.Invalid},
		"FolderIsAFile": {nats.Config{Dir: "/dev/null/x"}, fault.Denied},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			srv, err := nats.Start(t.Context(), c.cfg)
			if err == nil {
				srv.Close()
			}
			if got := fault.KindOf(err); got != c.want {
				t.Errorf("Start: %v (kind %q), want kind %q", err, got, c.want)
			}
		})
	}
}

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	srv, err := nats.Start(ctx, nats.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	srv.Wait()
	srv.Close()
}
