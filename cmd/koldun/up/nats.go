package up

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

const (
	// accountFile holds the public key of the account, which names the folder of its
	// streams. All other keys are new for each run, so credentials of earlier runs
	// are worth nothing.
	accountFile = "account"
	// globalAccount is the folder of the streams of a server without accounts, as
	// earlier versions ran it.
	globalAccount = "$G"
)

// serveNATS starts the embedded NATS server with one account.
func (m *run) serveNATS(ctx context.Context, s *servers) error {
	dir := m.data.Path("nats")
	authority, err := natsauth.NewAuthority("koldun up")
	if err != nil {
		return err
	}
	account, err := openAccount(dir)
	if err != nil {
		return err
	}
	token, err := account.JWT(authority.Signing, "koldun", natsauth.Limits{})
	if err != nil {
		return err
	}
	n, err := nats.Start(ctx, nats.Config{Dir: dir, Authority: &authority, Accounts: []string{token}})
	if err != nil {
		return err
	}
	s.close = append(s.close, func() { n.Close(); n.Wait() })
	s.users = natsUsers{url: n.ClientURL(), account: account}
	own, err := account.User(natsauth.Provider, nil, 0)
	if err != nil {
		return err
	}
	s.nats = bus.Config{URL: n.ClientURL(), Creds: own.Credentials}
	return m.offerNATS(s)
}

// offerNATS writes the connection for koldun requests.
func (m *run) offerNATS(s *servers) error {
	user, err := s.users.account.User(natsauth.Operator, nil, 0)
	if err != nil {
		return err
	}
	env, credentials := m.data.Path(connectionFile), m.data.Path(credentialsFile)
	s.close = append(s.close, func() { _, _ = os.Remove(env), os.Remove(credentials) })
	if err := writeSecret(credentials, []byte(user.Credentials)); err != nil {
		return err
	}
	return writeConnection(env, bus.Config{URL: s.nats.URL, CredsFile: credentials, InboxPrefix: user.InboxPrefix}.Env())
}

// openAccount returns the account of a data folder with new keys. It moves the streams
// of a server without accounts to it.
func openAccount(dir string) (natsauth.Account, error) {
	account, err := natsauth.NewAccount()
	if err != nil {
		return account, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return account, fmt.Errorf("cannot make the NATS data folder: %w", err)
	}
	file := filepath.Join(dir, accountFile)
	id, err := os.ReadFile(file)
	switch {
	case err == nil:
		account.ID = strings.TrimSpace(string(id))
		if !nkeys.IsValidPublicAccountKey(account.ID) {
			return account, fault.Errorf(fault.Corrupt, "cannot use the NATS account in %q: it is no public key of an account", file)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return account, fmt.Errorf("cannot read the NATS account: %w", err)
	default:
		if err := writeSecret(file, []byte(account.ID+"\n")); err != nil {
			return account, err
		}
	}
	// The server trusts a new operator each time, and none of the accounts of earlier ones.
	if err := os.RemoveAll(nats.AccountsIn(dir)); err != nil {
		return account, fmt.Errorf("cannot remove the NATS accounts of an earlier run: %w", err)
	}
	streams := nats.StreamsIn(dir)
	err = os.Rename(filepath.Join(streams, globalAccount), filepath.Join(streams, account.ID)) //nolint:gosec // the name of the folder is a key
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return account, fmt.Errorf("cannot move the streams of an earlier version of koldun up to their account: %w", err)
	}
	return account, nil
}

// natsUsers makes the users of the processes of koldun up.
type natsUsers struct {
	url     string // of the embedded server
	account natsauth.Account
}

// login replaces the credentials of this process in the variables of another, if it uses
// the embedded server, by those of a user of its role. Others get none.
func (u natsUsers) login(args []string, vars map[string]string) ([]byte, error) {
	if vars[names.EnvNATSURL] != u.url {
		return nil, nil
	}
	for _, name := range []string{names.EnvNATSCreds, names.EnvNATSInbox} {
		delete(vars, name)
	}
	role, tags := roleOf(args)
	if role == "" {
		delete(vars, names.EnvNATSURL)
		return nil, nil
	}
	user, err := u.account.User(role, tags, 0)
	return []byte(user.Credentials), err
}

// roleOf returns the role of a process by its arguments, or "" if it needs no NATS.
func roleOf(args []string) (natsauth.Role, map[natsauth.Tag]string) {
	if len(args) == 0 {
		return "", nil
	}
	flags := map[string]string{}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		flags[name] = value
	}
	key, reports := flags["--progress-key"]
	switch {
	case args[0] == "gateway":
		return natsauth.Gateway, nil
	case args[0] == "dispatcher":
		return natsauth.Dispatcher, nil
	case args[0] == "llm":
		namespace, model, _ := strings.Cut(flags["--model"], "/")
		return natsauth.Runner, map[natsauth.Tag]string{
			natsauth.Session: flags["--session"], natsauth.RunnerName: flags["--runner"], natsauth.Model: names.ModelKey(namespace, model),
		}
	case reports:
		return natsauth.Job, map[natsauth.Tag]string{natsauth.Progress: key}
	}
	return "", nil
}
