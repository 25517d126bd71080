package main_test

import (
	"net"
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
)

// listening returns an address that accepts connections and never answers.
func listening(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// Commands report wrong flags without NATS, too.
func TestFlagsAreCheckedBeforeNATS(t *testing.T) {
	t.Parallel()
	env := []string{names.EnvNATSURL + "=nats://" + listening(t)}
	llm := []string{"llm", "--listen=127.0.0.1:0", "--session=s", "--runner=r", "--model=ns/m"}
	gateway := []string{"gateway", "--listen=127.0.0.1:0", "--health-listen=127.0.0.1:0"}
	dispatcher := []string{"dispatcher", "--listen=127.0.0.1:0", "--identity=d"}
	for name, c := range map[string]struct {
		command []string
		flag    string
		says    string
	}{
		"Runner":          {llm, "--runner=a.b", `"a.b"`},
		"Session":         {llm, "--session=a b", `"a b"`},
		"Engine":          {llm, "--engine=127.0.0.1", "engine URL"},
		"Supervisor":      {llm, "--supervisor=ftp://h:1", "supervisor URL"},
		"First":           {llm, "--first=0", "--first=0s"},
		"Between":         {llm, "--between=-1s", "--between=-1s"},
		"NoSlots":         {llm, "--slots=0", "--slots=0: use 1 to"},
		"ManySlots":       {llm, "--slots=1000000000", "--slots=1000000000: use 1 to"},
		"OneMetric":       {llm, "--running-metric=x", "--waiting-metric: set both"},
		"MaxAttempts":     {dispatcher, "--max-attempts=0", "--max-attempts=0"},
		"Identity":        {dispatcher, "--identity=", "identity"},
		"DemandTTL":       {gateway, "--demand-ttl=0", "--demand-ttl=0s"},
		"ShortDemandTTL":  {gateway, "--demand-ttl=1ms", "demand TTL of 1ms"},
		"QueueTimeout":    {gateway, "--queue-timeout=0", "--queue-timeout=0s"},
		"RequestTimeout":  {gateway, "--request-timeout=-1s", "request timeout of -1s"},
		"ResponseTimeout": {gateway, "--response-timeout=0", "--response-timeout=0s"},
		"MaxBodyBytes":    {gateway, "--max-body-bytes=0", "--max-body-bytes=0"},
		"MaxSessions":     {gateway, "--max-sessions=0", "--max-sessions=0"},
		"Origin":          {gateway, "--cors-origin=nonsense", "nonsense"},
		"List":            {[]string{"requests", "list"}, "--limit=0", "the least is 1"},
		"Show":            {[]string{"requests", "show"}, "not an id", "no id of a request"},
		"Replay":          {[]string{"requests", "replay"}, "not an id", "no id of a request"},
		"Cancel":          {[]string{"requests", "cancel"}, "not an id", "no id of a request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := programtest.StartEnv(t, env, append(append([]string{}, c.command...), c.flag)...)
			if status := p.Exit(t); status != 10 {
				t.Errorf("exit status %d, want 10", status)
			}
			if !strings.Contains(p.Text(), c.says) || strings.Contains(p.Text(), "cannot connect") {
				t.Errorf("output: got %q, want %q in it", p.Text(), c.says)
			}
		})
	}
}

// With wrong credentials koldun requests fails at once; a server reports them at
// once, and waits for valid ones.
func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t)
	env := []string{names.EnvNATSURL + "=" + srv.URL(), names.EnvNATSUser + "=koldun", names.EnvNATSPassword + "=wrong-SECRET"}
	const refusal = `the server refuses user "koldun" with its password`
	look := programtest.StartEnv(t, env, "requests", "list")
	if status := look.Exit(t); status != 11 {
		t.Errorf("exit status %d, want 11", status)
	}
	for _, want := range []string{refusal, srv.URL(), names.EnvNATSPassword} {
		if !strings.Contains(look.Text(), want) {
			t.Errorf("the output lacks %q:\n%s", want, look.Text())
		}
	}
	server := programtest.StartEnv(t, env, "dispatcher", "--identity=d", "--listen=127.0.0.1:0")
	server.Expect(t, `the server refuses user \\?"koldun\\?" with its password`)
	server.Interrupt(t)
	if status := server.Exit(t); status != 0 {
		t.Errorf("exit status %d of a server that waits, want 0", status)
	}
	if all := look.Text() + server.Text(); strings.Contains(all, "SECRET") {
		t.Errorf("output contains the password:\n%s", all)
	}
}
