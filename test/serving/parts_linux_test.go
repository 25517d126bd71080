package serving_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	local "github.com/gorizond/koldun/internal/local/process"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/internal/network/httpserver/proxytest"
)

// A workspace is a test with its folder and the program that it tests.
type workspace struct {
	tb  testing.TB
	dir string
	bin string
}

// processes are the processes of a stack.
type processes struct {
	*workspace
	tether *local.Tether // see tie
	all    []*process    // none if the stack runs in this process
}

// A broker is NATS with the account of a stack: one server, or a cluster of them.
type broker struct {
	*workspace
	processes *processes
	authority natsauth.Authority
	account   natstest.Tenant
	process   *process
	members   map[string]*process // of the NATS cluster, by name
	natsURL   string              // bypassing the proxy
	proxy     *proxytest.Proxy
}

// logins are the users of processes, in files that the processes read.
type logins struct {
	*workspace
	broker *broker
	users  []*processUser
}
