package natstest

import (
	"context"
	"testing"

	client "github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats"
	"github.com/gorizond/koldun/internal/httpserver/porttest"
	"github.com/gorizond/koldun/internal/natsauth"
)

// An OperatorServer is a NATS server in operator mode.
type OperatorServer struct {
	tb        testing.TB
	url       string
	authority natsauth.Authority
	manager   *client.Conn
}

// StartOperator runs a server in operator mode on a free loopback port until the test
// ends.
func StartOperator(tb testing.TB) *OperatorServer {
	tb.Helper()
	authority, err := natsauth.NewAuthority("test")
	if err != nil {
		tb.Fatal(err)
	}
	srv, err := nats.Start(context.Background(), nats.Config{Dir: tb.TempDir(), Listen: porttest.Address(tb), Authority: &authority})
	if err != nil {
		tb.Fatalf("cannot start a NATS server: %v", err)
	}
	tb.Cleanup(srv.Close)
	return &OperatorServer{tb: tb, url: srv.ClientURL(), authority: authority, manager: Manager(tb, srv.ClientURL(), authority)}
}

// Manager connects as a user that may manage accounts, until the test ends.
func Manager(tb testing.TB, url string, authority natsauth.Authority) *client.Conn {
	tb.Helper()
	user, err := authority.Manager()
	if err != nil {
		tb.Fatal(err)
	}
	nc, err := client.Connect(url, client.UserCredentialBytes([]byte(user.Credentials)), client.CustomInboxPrefix(user.InboxPrefix))
	if err != nil {
		tb.Fatalf("cannot connect as the manager of accounts: %v", err)
	}
	tb.Cleanup(nc.Close)
	return nc
}

// Account makes an account that the server knows.
func (s *OperatorServer) Account(name string, l natsauth.Limits) natsauth.Account {
	s.tb.Helper()
	return Account(s.tb, s.manager, s.authority, name, l)
}

// Account makes an account, and pushes it to a server.
func Account(tb testing.TB, manager *client.Conn, authority natsauth.Authority, name string, l natsauth.Limits) natsauth.Account {
	tb.Helper()
	account, err := natsauth.NewAccount()
	if err != nil {
		tb.Fatal(err)
	}
	token, err := account.JWT(authority.Signing, name, l)
	if err != nil {
		tb.Fatal(err)
	}
	if err := natsauth.Push(tb.Context(), manager, token); err != nil {
		tb.Fatal(err)
	}
	return account
}

// As returns the connection of a new user of a role.
func (s *OperatorServer) As(a natsauth.Account, role natsauth.Role, tags map[natsauth.Tag]string) bus.Config {
	s.tb.Helper()
	user, err := a.User(role, tags, 0)
	if err != nil {
		s.tb.Fatal(err)
	}
	return bus.Config{URL: s.url, Creds: user.Credentials, InboxPrefix: user.InboxPrefix, Name: string(role)}
}
