package serving_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// fenced makes a process start in a network namespace of its own, which has nothing but a
// loopback interface. Without root, a user namespace gives the right to do so.
func fenced(a *syscall.SysProcAttr) {
	a.Cloneflags |= syscall.CLONE_NEWNET
	if os.Geteuid() != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
}

// A dialled is what a fenced process reports about an address.
type dialled struct {
	Address string `json:"address"`
	Error   string `json:"error"` // "" if it was reached
}

// roleFence runs an engine and a program behind a fence. All that leaves it is what they
// send to the address of NATS: it goes through a socket in a folder. roleFence tries to
// reach the probed addresses, and prints what comes of it.
func roleFence(socket, nats, engine, probed string, program []string) {
	runtime.LockOSThread() // the children end with the thread that starts them
	l, err := fence(nats)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go forward(l, "unix", socket)
	for _, args := range [][]string{{os.Args[0], "role-engine", engine, "1"}, program} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	for _, address := range strings.Split(probed, ",") {
		d := dialled{Address: address}
		if c, err := net.DialTimeout("tcp", address, 5*time.Second); err != nil {
			d.Error = err.Error()
		} else {
			_ = c.Close()
		}
		line, _ := json.Marshal(d)
		fmt.Printf("%s\n", line)
	}
	<-ended().Done()
}

// fence listens at an address of the loopback interface, which it switches on.
func fence(listen string) (net.Listener, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return nil, err
	}
	loopback.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, loopback); err != nil {
		return nil, fmt.Errorf("cannot switch on the loopback interface: %w", err)
	}
	return net.Listen("tcp", listen)
}

// forward connects each connection of a listener with an address, until the listener is
// closed.
func forward(l net.Listener, network, address string) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = in.Close() }()
			out, err := net.Dial(network, address)
			if err != nil {
				return
			}
			defer func() { _ = out.Close() }()
			go func() {
				_, _ = io.Copy(out, in)
				_ = out.Close()
			}()
			_, _ = io.Copy(in, out)
		}()
	}
}

// mayFence skips a test if this machine does not let it make network namespaces.
func mayFence(t *testing.T) {
	t.Helper()
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	fenced(cmd.SysProcAttr)
	err := cmd.Run()
	switch {
	case err == nil:
	case os.Getenv("KOLDUN_REQUIRE_CLUSTER") == "1":
		t.Fatalf("cannot make a network namespace: %v; run the tests as root", err)
	default:
		t.Skipf("cannot make a network namespace (%v); run: sudo -E go test -run %s ./test/serving", err, t.Name())
	}
}

// TestRunnerBehindAFirewall runs a runner with its engine where nothing can come in, and
// nothing but a connection to NATS can go out, as in a cluster of others.
func TestRunnerBehindAFirewall(t *testing.T) {
	t.Parallel()
	mayFence(t)
	tenants := []history.Tenant{history.NewTenant("amber"), history.NewTenant("birch")}
	s := newStack(t, plan{gateways: 1, dispatchers: 1, tenants: tenants})
	socket := filepath.Join(s.dir, "nats.sock")
	out, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	go forward(out, "tcp", s.broker.proxy.Address())

	nats, engine, health := address(t), address(t), address(t)
	outside := []string{
		s.broker.proxy.Address(), strings.TrimPrefix(s.broker.natsURL, "nats://"), strings.TrimPrefix(s.urls[0], "http://"),
		s.gatewayHealth[0], s.health[0], "192.0.2.1:443",
	}
	env := append(s.logins.envOfRunner(plan{}, "r0"), names.EnvNATSURL+"=nats://"+nats)
	f := s.processes.startWith(fenced, "fence", env, os.Args[0], "role-fence", socket, nats, engine, strings.Join(append(outside, nats), ","),
		s.bin, "llm", "--listen="+health, "--engine=http://"+engine, "--session="+names.Session(namespace, modelName, ""),
		"--runner=r0", "--model="+modelID, "--grace=5s")
	s.engines, s.sidecars = append(s.engines, f), append(s.sidecars, f)

	h := &history.History{}
	ctx, stop := context.WithCancel(t.Context())
	w := newWorkload(s, tenants)
	w.start(ctx, 3)
	waittest.Until(t, "requests to be answered from behind the firewall", func() bool { return w.count() >= 30 })
	stop()
	w.wait(h)
	s.collect(t, h)
	h.Verify(t, history.EndsOnce, history.OneGeneration, history.NothingLost, history.TenantsIsolated)

	for _, inside := range []string{engine, health, nats} {
		if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inside); err == nil {
			_ = c.Close()
			t.Errorf("%s behind the firewall can be reached from outside", inside)
		}
	}
	reached := map[string]string{}
	waittest.Until(t, "all addresses to be tried from inside", func() bool {
		for line := range bytes.Lines(f.output()) {
			var d dialled
			if json.Unmarshal(line, &d) == nil && d.Address != "" {
				reached[d.Address] = d.Error
			}
		}
		return len(reached) == len(outside)+1
	})
	for _, address := range outside {
		if reached[address] == "" {
			t.Errorf("%s outside can be reached from behind the firewall", address)
		}
	}
	if why := reached[nats]; why != "" {
		t.Errorf("NATS cannot be reached from behind the firewall: %s", why)
	}
}
