package bus_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

// oldServer greets and answers pings as a NATS server of the version does, and
// knows nothing else: it is enough for a client to connect.
func oldServer(t *testing.T, version string) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); waittest.Receive(t, "the server ends", done) })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			greet(conn, version)
		}
	}()
	return "nats://" + l.Addr().String()
}

// greet serves one client until it leaves.
func greet(conn net.Conn, version string) {
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "INFO {\"server_id\":\"x\",\"version\":%q,\"headers\":true,\"max_payload\":1048576,\"jetstream\":true}\r\n", version)
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "PING") {
			_, _ = conn.Write([]byte("PONG\r\n"))
		}
	}
}

func TestOldServersAreRefused(t *testing.T) {
	for _, version := range []string{"2.10.29", "2.9.0", "1.4.1", "2.2.0-beta.1"} {
		t.Run(version, func(t *testing.T) {
			_, err := bus.Connect(testContext(t), bus.Config{URL: oldServer(t, version), Name: t.Name()})
			if !fault.Is(err, fault.Unsupported) {
				t.Fatalf("Connect: %v, want Unsupported", err)
			}
			for _, word := range []string{"version " + version, "needs 2.11 or newer"} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		})
	}
}
