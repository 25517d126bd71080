// Package nats runs a NATS server with JetStream inside this process. It
// listens on loopback and keeps its data in one folder. A server started on the
// same folder continues with that data.
package nats

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// MaxPayload is the largest message the server accepts, in bytes. A long
// conversation exceeds the default of NATS, 1 MiB.
const MaxPayload = 8 << 20

// startTimeout limits the recovery of the folder.
const startTimeout = 60 * time.Second

// A Config holds the address, folder and credentials of a server.
type Config struct {
	Dir      string // data folder, created if absent; used by one server at a time
	Listen   string // "host:port" on loopback, default "127.0.0.1:0"
	User     string // with Password; both empty: no authentication, or that of Authority
	Password string
	// Authority makes clients need the credentials of an account that it has signed.
	// The server keeps accounts in a folder beside its data. nil: User decides.
	Authority *natsauth.Authority
	// Accounts are the JWTs of accounts that exist from the start, if clients need one.
	Accounts []string
	// SyncAlways syncs each write to disk before acknowledging it. Without it a
	// write survives the end of the process, but not a loss of power within the
	// next seconds.
	SyncAlways bool
}

// A Server is a running server. Its methods may be called from any goroutine.
type Server struct {
	srv  *server.Server
	done chan struct{}
}

// Start runs a server until ctx ends or Close is called. It blocks until
// clients can connect. Errors: Invalid (address), Conflict (port in use),
// Quota, Denied or Corrupt (folder).
func Start(ctx context.Context, cfg Config) (*Server, error) {
	opts, err := options(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fault.Errorf(fault.Denied, "cannot make the NATS data folder %q: %w", cfg.Dir, err)
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot start the NATS server: %w", err)
	}
	errs := &firstError{}
	srv.SetLogger(errs, false, false)
	s := &Server{srv: srv, done: make(chan struct{})}
	srv.Start()
	if err := s.waitReady(ctx, errs); err != nil {
		srv.Shutdown()
		srv.WaitForShutdown()
		return nil, err
	}
	go func() {
		defer close(s.done)
		stopped := make(chan struct{})
		go func() { srv.WaitForShutdown(); close(stopped) }()
		select {
		case <-ctx.Done():
			srv.Shutdown()
		case <-stopped:
		}
		<-stopped
	}()
	return s, nil
}

// ClientURL returns the address for clients, "nats://host:port", without
// credentials.
func (s *Server) ClientURL() string { return "nats://" + s.srv.Addr().String() }

// Clients returns the number of connections to the server.
func (s *Server) Clients() int { return s.srv.NumClients() }

// Close stops the server and waits until its data is on disk. It may be called
// more than once.
func (s *Server) Close() {
	s.srv.Shutdown()
	<-s.done
}

// Wait blocks until the server has stopped.
func (s *Server) Wait() { <-s.done }

// Done returns a channel that is closed when the server has stopped.
func (s *Server) Done() <-chan struct{} { return s.done }

func (s *Server) waitReady(ctx context.Context, errs *firstError) error {
	deadline := time.Now().Add(startTimeout)
	for {
		if s.srv.ReadyForConnections(50*time.Millisecond) && s.srv.JetStreamEnabled() {
			return nil
		}
		if msg := errs.get(); msg != "" && !s.srv.Running() {
			return fault.Errorf(kindOf(msg), "cannot start the NATS server: %s", msg)
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("cannot start the NATS server: %w", err)
		}
		if time.Now().After(deadline) {
			return fault.Errorf(fault.Transient, "cannot start the NATS server: not ready after %s: %s", startTimeout, errs.get())
		}
	}
}

func options(ctx context.Context, cfg Config) (*server.Options, error) {
	if cfg.Dir == "" {
		return nil, fault.Errorf(fault.Invalid, "cannot start the NATS server: no data folder given")
	}
	listen := cfg.Listen
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	host, portText, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot listen for NATS on %q: %w", listen, err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot listen for NATS on %q: no such port", listen)
	}
	if host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return nil, fault.Errorf(fault.Invalid, "cannot listen for NATS on %q: only loopback addresses are allowed", listen)
	}
	if err := portFree(ctx, listen); err != nil {
		return nil, err
	}
	serverPort := int(port)
	if serverPort == 0 {
		serverPort = server.RANDOM_PORT
	}
	opts := &server.Options{
		ServerName: "koldun",
		Host:       host,
		Port:       serverPort,
		Username:   cfg.User,
		Password:   cfg.Password,
		JetStream:  true,
		StoreDir:   cfg.Dir,
		SyncAlways: cfg.SyncAlways,
		MaxPayload: MaxPayload,
		MaxPending: 64 << 20,
		NoSigs:     true,
		NoLog:      true,
	}
	if cfg.Authority == nil {
		return opts, nil
	}
	return opts, Trust(opts, *cfg.Authority, AccountsIn(cfg.Dir), AccountInterval, cfg.Accounts...)
}

// AccountsIn is the folder of accounts in a data folder.
func AccountsIn(dir string) string { return filepath.Join(dir, "accounts") }

// StreamsIn is the folder in a data folder that has a folder with the streams of each
// account, by its public key.
func StreamsIn(dir string) string { return filepath.Join(dir, server.JetStreamStoreDir) }

// portFree returns a clear error if the port is taken. The server itself would
// only log it and exit.
func portFree(ctx context.Context, listen string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return fault.Errorf(fault.Conflict, "cannot listen for NATS on %q: %w", listen, err)
	}
	return l.Close()
}
