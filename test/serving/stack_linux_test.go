package serving_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/internal/network/httpserver/proxytest"

	"github.com/gorizond/koldun/test/history"
)

const (
	namespace = history.Namespace
	modelName = history.ModelName
	modelID   = history.ModelID
)

// A plan describes the processes of a stack.
type plan struct {
	gateways, dispatchers, runners int
	slots                          int              // of each runner; 0 is 1
	sync                           bool             // NATS syncs each write to disk
	syncEvery                      time.Duration    // servers of a cluster sync after it; 0: as by default
	cluster                        bool             // three NATS servers
	runnerArgs                     []string         // additional arguments of koldun llm
	groupArgs                      []string         // arguments of the runners in turn that describe their groups
	gatewayEnv                     []string         // additional variables of gateways
	gatewayArgs                    []string         // additional arguments of gateways
	gatewayUnder                   []string         // a command that runs gateways
	tenants                        []history.Tenant // callers; none: anonymous callers are allowed
	lives                          time.Duration    // of credentials; 0: for ever
}

// A stack is all processes that a request passes through.
type stack struct {
	*workspace
	processes *processes
	broker    *broker
	logins    *logins
	tenant    history.Tenant // sends the requests of benchmarks

	gateways      []*process
	urls          []string // of the gateways
	gatewayHealth []string
	dispatchers   []*process
	health        []string // of the dispatchers
	sidecars      []*process
	sidecarHealth string // of a ring
	engines       []*process
	engineURLs    []string
}

// emptyStack returns a stack of the program bin that runs nothing yet.
func emptyStack(tb testing.TB, bin string) *stack {
	tb.Helper()
	w := &workspace{tb: tb, dir: tb.TempDir(), bin: bin}
	p := &processes{workspace: w}
	b := &broker{workspace: w, processes: p}
	return &stack{workspace: w, processes: p, broker: b, logins: &logins{workspace: w, broker: b}}
}

func newStack(tb testing.TB, p plan) *stack {
	tb.Helper()
	s := emptyStack(tb, koldun(tb))
	if p.cluster {
		s.broker.members = s.broker.startCluster(p)
	} else {
		s.broker.startServer(p)
	}
	b := s.broker.bus()
	if err := b.Ensure(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	s.registerModel(b, modelName)
	s.registerTenants(b, p.tenants...)
	for i := range p.runners {
		engine, health := address(tb), address(tb)
		s.engines = append(s.engines, s.processes.start(fmt.Sprintf("engine%d", i), nil, os.Args[0], "role-engine", engine, strconv.Itoa(max(p.slots, 1))))
		s.engineURLs = append(s.engineURLs, "http://"+engine)
		args := []string{
			s.bin, "llm", "--listen=" + health, "--engine=http://" + engine, "--session=" + names.Session(namespace, modelName, ""),
			fmt.Sprintf("--runner=r%d", i), "--model=" + modelID, "--grace=5s", fmt.Sprintf("--slots=%d", max(p.slots, 1)),
		}
		if len(p.groupArgs) > 0 {
			args = append(args, strings.Fields(p.groupArgs[i%len(p.groupArgs)])...)
		}
		s.sidecars = append(s.sidecars, s.processes.start(
			fmt.Sprintf("sidecar%d", i), s.logins.envOfRunner(p, fmt.Sprintf("r%d", i)), append(args, p.runnerArgs...)...))
		defer ready(tb, health)
	}
	for i := range p.dispatchers {
		health := address(tb)
		s.health = append(s.health, health)
		s.dispatchers = append(s.dispatchers, s.processes.start(fmt.Sprintf("dispatcher%d", i), s.logins.env(p, natsauth.Dispatcher, nil),
			s.bin, "dispatcher", "--listen="+health, fmt.Sprintf("--identity=d%d", i)))
		defer ready(tb, health)
	}
	for i := range p.gateways {
		listen, health := address(tb), address(tb)
		s.urls, s.gatewayHealth = append(s.urls, "http://"+listen), append(s.gatewayHealth, health)
		args := append(slices.Clone(p.gatewayUnder), s.bin, "gateway", "--listen="+listen, "--health-listen="+health)
		if len(p.tenants) == 0 {
			args = append(args, "--allow-anonymous")
		}
		s.gateways = append(s.gateways, s.processes.start(
			fmt.Sprintf("gateway%d", i), append(p.gatewayEnv, s.logins.env(p, natsauth.Gateway, nil)...), append(args, p.gatewayArgs...)...))
		defer ready(tb, health)
	}
	return s
}

// startServer starts a single NATS server and the proxy to it.
func (br *broker) startServer(p plan) {
	mode := "nosync"
	if p.sync {
		mode = "sync"
	}
	listen := address(br.tb)
	br.process = br.processes.start("nats", br.authorityEnv(), os.Args[0], "role-nats", br.dir+"/nats", listen, mode)
	br.natsURL = "nats://" + listen
	br.makeAccount()
	br.proxy = proxytest.Start(br.tb, listen)
}

// env returns the environment of a process of a role. It reaches NATS through the
// proxy, except in benchmarks and clusters.
func (l *logins) env(p plan, role natsauth.Role, tags map[natsauth.Tag]string) []string {
	url := l.broker.natsURL
	if _, bench := l.tb.(*testing.B); !bench && !p.cluster {
		url = "nats://" + l.broker.proxy.Address()
	}
	return []string{
		names.EnvNATSURL + "=" + url, names.EnvNATSCreds + "=" + l.issue(role, tags, p.lives),
		"KOLDUN_LOG_FORMAT=json", "KOLDUN_LOG_LEVEL=" + logLevel(l.tb),
	}
}

// logLevel returns debug, which helps to explain violations, or info for
// benchmarks.
func logLevel(tb testing.TB) string {
	if _, bench := tb.(*testing.B); bench {
		return "info"
	}
	return "debug"
}

// bus returns a new connection to NATS that bypasses the proxy.
func (br *broker) bus() *bus.Bus {
	br.tb.Helper()
	return br.connect(br.account.Everything(br.tb))
}

// connect returns a connection of a user that bypasses the proxy.
func (br *broker) connect(u natsauth.User) *bus.Bus {
	br.tb.Helper()
	b, err := bus.Connect(br.tb.Context(), br.busConfig(u))
	if err != nil {
		br.tb.Fatal(err)
	}
	br.tb.Cleanup(b.Close)
	return b
}

// generations returns what the engines have logged, grouped by engine.
func (s *stack) generations() []history.Generation {
	var all []history.Generation
	for _, e := range s.engines {
		for _, line := range lines(e.output()) {
			var g history.Generation
			if json.Unmarshal(line, &g) == nil && g.ID != "" {
				all = append(all, g)
			}
		}
	}
	return all
}
