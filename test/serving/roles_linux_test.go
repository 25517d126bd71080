package serving_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// authorityEnv names the variable with the file of the operator that the processes of
// NATS trust.
const authorityEnv = "KOLDUN_SERVING_AUTHORITY"

// newAuthority makes the operator of the stack's servers.
func (br *broker) newAuthority() {
	br.tb.Helper()
	var err error
	if br.authority, err = natsauth.NewAuthority("test"); err != nil {
		br.tb.Fatal(err)
	}
}

// authorityEnv makes the operator unless there is one, and returns the environment of
// a server that trusts it.
func (br *broker) authorityEnv() []string {
	br.tb.Helper()
	file := filepath.Join(br.dir, "authority.json")
	if br.authority.Operator == "" {
		br.newAuthority()
		data, err := json.Marshal(br.authority)
		if err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			br.tb.Fatal(err)
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
func (br *broker) makeAccount() {
	br.tb.Helper()
	manager := natstest.Manager(br.tb, br.natsURL, br.authority)
	br.account = natstest.Account(br.tb, manager, br.authority, namespace, natsauth.Limits{})
}

// user makes a user of a role.
func (br *broker) user(role natsauth.Role, tags map[natsauth.Tag]string) natsauth.User {
	br.tb.Helper()
	u, err := br.account.User(role, tags, 0)
	if err != nil {
		br.tb.Fatal(err)
	}
	return u
}

// runnerTags are those of a runner of the stack's model.
func runnerTags(name string) map[natsauth.Tag]string {
	return map[natsauth.Tag]string{
		natsauth.Session: names.Session(namespace, modelName, ""), natsauth.RunnerName: name, natsauth.Model: names.ModelKey(namespace, modelName),
	}
}

func (l *logins) envOfRunner(p plan, name string) []string {
	return l.env(p, natsauth.Runner, runnerTags(name))
}

// A processUser is a user in a credentials file.
type processUser struct {
	natsauth.User

	role natsauth.Role
	tags map[natsauth.Tag]string
}

// issue makes the user of a process, and returns its credentials file.
func (l *logins) issue(role natsauth.Role, tags map[natsauth.Tag]string, lives time.Duration) string {
	l.tb.Helper()
	made, err := l.broker.account.User(role, tags, lives)
	if err != nil {
		l.tb.Fatal(err)
	}
	u := &processUser{User: made, role: role, tags: tags}
	l.users = append(l.users, u)
	return l.write(u)
}

// write replaces the credentials file of a user at once, and returns its path.
func (l *logins) write(u *processUser) string {
	l.tb.Helper()
	file := filepath.Join(l.dir, u.ID+".creds")
	if err := os.WriteFile(file+".new", []byte(u.Credentials), 0o600); err != nil {
		l.tb.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		l.tb.Fatal(err)
	}
	return file
}

// renew gives the users of all processes newer credentials.
func (l *logins) renew(lives time.Duration) {
	l.tb.Helper()
	for _, u := range l.users {
		var err error
		if u.User, err = l.broker.account.Renew(u.User, u.role, u.tags, lives); err != nil {
			l.tb.Fatal(err)
		}
		l.write(u)
	}
}

// busConfig is the connection of a user that bypasses the proxy.
func (br *broker) busConfig(u natsauth.User) bus.Config {
	return bus.Config{URL: br.natsURL, Creds: u.Credentials, WithoutJetStream: true, Name: u.ID, Logger: slog.New(slog.DiscardHandler)}
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
