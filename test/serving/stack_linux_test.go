package serving_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"testing"

	"github.com/gorizond/koldun/internal/bus"
	local "github.com/gorizond/koldun/internal/local/process"
	"github.com/gorizond/koldun/internal/names"
)

const (
	namespace = "default"
	modelName = "tiny"
	modelID   = namespace + "/" + modelName
)

// A plan says how many of each process a stack has.
type plan struct {
	gateways, dispatchers, runners int
	slots                          int      // of each runner; 0 is 1
	sync                           bool     // NATS writes reach the disk
	cluster                        bool     // three NATS servers
	runnerArgs                     []string // further ones of koldun llm
	gatewayEnv                     []string // further variables of gateways
	gatewayArgs                    []string // further arguments of gateways
	tenants                        []tenant // who may ask; none means everybody
}

// A stack is everything a request passes through.
type stack struct {
	tb  testing.TB
	dir string
	bin string
	// tenant asks in benchmarks.
	tenant tenant

	nats     *process
	members  map[string]*process // of the cluster, by name
	natsURL  string              // past the cutter
	tether   *local.Tether       // see tie
	cutter   *cutter
	gateways []*process
	urls     []string // of the gateways
	health   []string // of the dispatchers

	gatewayHealth []string
	processes     []*process // all; none in a stack of one process
	dispatchers   []*process
	sidecars      []*process
	engines       []*process
	engineURLs    []string
}

func newStack(tb testing.TB, p plan) *stack {
	tb.Helper()
	s := &stack{tb: tb, dir: tb.TempDir(), bin: koldun(tb)}
	if p.cluster {
		s.members = s.cluster()
	} else {
		s.server(p)
	}
	b := s.bus()
	if err := b.Ensure(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	s.register(b, modelName)
	s.admit(b, p.tenants...)
	env := s.env(p)
	for i := range p.runners {
		engine, health := address(tb), address(tb)
		s.engines = append(s.engines, s.process(fmt.Sprintf("engine%d", i), nil, os.Args[0], "role-engine", engine, strconv.Itoa(max(p.slots, 1))))
		s.engineURLs = append(s.engineURLs, "http://"+engine)
		args := []string{
			s.bin, "llm", "--listen=" + health, "--engine=http://" + engine, "--session=" + names.Session(namespace, modelName, ""),
			fmt.Sprintf("--runner=r%d", i), "--model=" + modelID, "--grace=5s", fmt.Sprintf("--slots=%d", max(p.slots, 1)),
		}
		s.sidecars = append(s.sidecars, s.process(fmt.Sprintf("sidecar%d", i), env, append(args, p.runnerArgs...)...))
		defer ready(tb, health)
	}
	for i := range p.dispatchers {
		health := address(tb)
		s.health = append(s.health, health)
		s.dispatchers = append(s.dispatchers, s.process(fmt.Sprintf("dispatcher%d", i), env,
			s.bin, "dispatcher", "--listen="+health, fmt.Sprintf("--identity=d%d", i)))
		defer ready(tb, health)
	}
	for i := range p.gateways {
		listen, health := address(tb), address(tb)
		s.urls, s.gatewayHealth = append(s.urls, "http://"+listen), append(s.gatewayHealth, health)
		args := []string{s.bin, "gateway", "--listen=" + listen, "--health-listen=" + health}
		if len(p.tenants) == 0 {
			args = append(args, "--allow-anonymous")
		}
		s.gateways = append(s.gateways, s.process(fmt.Sprintf("gateway%d", i), append(p.gatewayEnv, env...), append(args, p.gatewayArgs...)...))
		defer ready(tb, health)
	}
	return s
}

// server starts the one NATS server.
func (s *stack) server(p plan) {
	mode := "nosync"
	if p.sync {
		mode = "sync"
	}
	listen := address(s.tb)
	s.nats = s.process("nats", nil, os.Args[0], "role-nats", s.dir+"/nats", listen, mode)
	s.natsURL = "nats://" + listen
	s.cutter = newCutter(s.tb, listen)
}

// env is how processes reach NATS: through the cutter, unless speed is what
// matters.
func (s *stack) env(p plan) []string {
	url := s.natsURL
	if _, bench := s.tb.(*testing.B); !bench && !p.cluster {
		url = "nats://" + s.cutter.addr()
	}
	return []string{
		names.EnvNATSURL + "=" + url, names.EnvNATSUser + "=" + user, names.EnvNATSPassword + "=" + password,
		"KOLDUN_LOG_FORMAT=json", "KOLDUN_LOG_LEVEL=" + logLevel(s.tb),
	}
}

// logLevel is for violations to be explained, and for benchmarks not to be of
// logging.
func logLevel(tb testing.TB) string {
	if _, bench := tb.(*testing.B); bench {
		return "info"
	}
	return "debug"
}

// bus is a connection of the test's own, past the cutter.
func (s *stack) bus() *bus.Bus {
	s.tb.Helper()
	b, err := bus.Connect(s.tb.Context(), bus.Config{
		URL: s.natsURL, User: user, Password: password, Name: "test", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(b.Close)
	return b
}

// generations are what the engines have told.
func (s *stack) generations() []generation {
	var all []generation
	for _, e := range s.engines {
		for _, line := range lines(e.output()) {
			var g generation
			if json.Unmarshal(line, &g) == nil && g.ID != "" {
				all = append(all, g)
			}
		}
	}
	return all
}
