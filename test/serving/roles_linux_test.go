package serving_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/natsauth"
)

// authorityEnv names the variable with the file of the operator that the processes of
// NATS trust.
const authorityEnv = "KOLDUN_SERVING_AUTHORITY"

// newAuthority makes the operator of the stack's servers.
func (s *stack) newAuthority() {
	s.tb.Helper()
	var err error
	if s.authority, err = natsauth.NewAuthority("test"); err != nil {
		s.tb.Fatal(err)
	}
}

// authorityEnv makes the operator unless there is one, and returns the environment of
// a server that trusts it.
func (s *stack) authorityEnv() []string {
	s.tb.Helper()
	file := filepath.Join(s.dir, "authority.json")
	if s.authority.Operator == "" {
		s.newAuthority()
		data, err := json.Marshal(s.authority)
		if err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			s.tb.Fatal(err)
		}
	}
	return []string{authorityEnv + "=" + file}
}

// readAuthority returns the operator that this process, a NATS server, trusts.
func readAuthority() *natsauth.Authority {
	var a natsauth.Authority
	data, err := os.ReadFile(os.Getenv(authorityEnv))
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return &a
}

// makeAccount waits for the servers, and makes the account of the stack.
func (s *stack) makeAccount() {
	s.tb.Helper()
	manager := natstest.Manager(s.tb, s.natsURL, s.authority)
	s.account = natstest.Account(s.tb, manager, s.authority, namespace, natsauth.Limits{})
}

// user makes a user of a role.
func (s *stack) user(role natsauth.Role, tags map[natsauth.Tag]string) natsauth.User {
	s.tb.Helper()
	u, err := s.account.User(role, tags, 0)
	if err != nil {
		s.tb.Fatal(err)
	}
	return u
}

// runnerTags are those of a runner of the stack's model.
func runnerTags(name string) map[natsauth.Tag]string {
	return map[natsauth.Tag]string{
		natsauth.Session: names.Session(namespace, modelName, ""), natsauth.RunnerName: name, natsauth.Model: names.ModelKey(namespace, modelName),
	}
}

func (s *stack) runnerEnv(p plan, name string) []string {
	return s.env(p, natsauth.Runner, runnerTags(name))
}

// credentials writes the credentials file of a user.
func (s *stack) credentials(u natsauth.User) string {
	s.tb.Helper()
	file := filepath.Join(s.dir, u.ID+".creds")
	if err := os.WriteFile(file, []byte(u.Credentials), 0o600); err != nil {
		s.tb.Fatal(err)
	}
	return file
}

// busConfig is the connection of a user that bypasses the proxy.
func (s *stack) busConfig(u natsauth.User) bus.Config {
	return bus.Config{URL: s.natsURL, Creds: u.Credentials, InboxPrefix: u.InboxPrefix, Name: u.ID, Logger: slog.New(slog.DiscardHandler)}
}

// violations returns the warnings of a log in which NATS complains about the rights of
// the process.
func violations(log []byte) (found []byte) {
	for line := range bytes.Lines(log) {
		if bytes.Contains(line, []byte(`"level":"WARN"`)) && bytes.Contains(line, []byte(nats.ErrPermissionViolation.Error())) {
			found = append(found, line...)
		}
	}
	return found
}
