// Package natsuser makes users of the NATS account of a namespace, renews their
// credentials, and revokes them.
package natsuser

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/natsauth"
)

const (
	// defaultLifetime of credentials.
	defaultLifetime = 24 * time.Hour
	// looks is how often in a lifetime credentials are observed.
	looks = 16
)

// A Spec describes users.
type Spec struct {
	Users    []User             `json:"users"`
	Lifetime *external.Duration `json:"lifetime,omitempty"`

	// Namespace of the account.
	Namespace string `json:"-"`
	// Owner tells users of this resource from those of others.
	Owner string `json:"-"`
	// Stored is what the Secret with the credentials holds.
	Stored map[string][]byte `json:"-"`
	// Known was observed before.
	Known Status `json:"-"`
}

// A User is a role with the values that its subjects depend on.
type User struct {
	Name     string `json:"name"`
	Role     string `json:"role"`
	Session  string `json:"session,omitempty"`
	Runner   string `json:"runner,omitempty"`
	Model    string `json:"model,omitempty"`
	Progress string `json:"progress,omitempty"`
}

// A Status is the observed state of users.
type Status struct {
	Account  string   `json:"account,omitempty"`
	Users    []Issued `json:"users,omitempty"`
	Revoking []string `json:"revoking,omitempty"`
}

// Issued is a user with credentials.
type Issued struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

// A Client makes users of accounts.
type Client struct {
	accounts *natsauth.Accounts
	address  map[string][]byte
}

var (
	_ external.Client[Spec, Status] = Client{}
	_ external.Watcher[Spec]        = Client{}
)

// New returns a Client. address holds how to reach the servers, as environment variables
// of a workload without a login.
func New(accounts *natsauth.Accounts, address map[string][]byte) Client {
	return Client{accounts, address}
}

// File returns the key of a user's credentials file in the Secret.
func File(name string) string { return name + ".creds" }

func (s Spec) lifetime() time.Duration {
	if s.Lifetime == nil {
		return defaultLifetime
	}
	return min(max(time.Duration(*s.Lifetime), time.Second), natsauth.MaxLife)
}

func (s Spec) grant(u User) (natsauth.Grant, error) {
	role := natsauth.Role(u.Role)
	// The provider makes its own users: this role reads and changes all streams.
	if role == natsauth.Provider || !slices.Contains(natsauth.Roles(), role) {
		return natsauth.Grant{}, fault.Errorf(fault.Invalid, "cannot make NATS user %q: there is no role %q for it", u.Name, u.Role)
	}
	g := natsauth.Grant{Namespace: s.Namespace, Owner: s.Owner + "/" + u.Name, Role: role, Tags: map[natsauth.Tag]string{}}
	for tag, value := range map[natsauth.Tag]string{natsauth.Session: u.Session, natsauth.RunnerName: u.Runner, natsauth.Model: u.Model, natsauth.Progress: u.Progress} {
		if value != "" {
			g.Tags[tag] = value
		}
	}
	return g, nil
}

// Observe returns credentials for all users: those of the Secret while more than half of
// their life is left, or new ones. The users exist as soon as their account does.
func (c Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	state, err := c.accounts.State(ctx, s.Namespace)
	if err != nil {
		return external.Observation[Status]{}, err
	}
	o := external.Observation[Status]{Exists: true, Ready: true, Connection: maps.Clone(c.address), Status: Status{Account: state.ID}}
	for _, u := range s.Users {
		g, err := s.grant(u)
		if err != nil {
			return external.Observation[Status]{}, err
		}
		text, id, err := c.credentials(s, g, File(u.Name), state)
		if err != nil {
			return external.Observation[Status]{}, err
		}
		o.Connection[File(u.Name)] = []byte(text)
		o.Status.Users = append(o.Status.Users, Issued{u.Name, id})
	}
	o.Status.Revoking, err = c.revoking(ctx, s, o.Status.Users)
	o.UpToDate = len(o.Status.Revoking) == 0
	return o, err
}

// credentials returns those of the Secret, or new ones.
func (c Client) credentials(s Spec, g natsauth.Grant, file string, account natsauth.State) (text, id string, err error) {
	id, err = c.accounts.Keyring().UserID(g)
	if err != nil {
		return "", "", err
	}
	held := string(s.Stored[file])
	life, ok := natsauth.LifeOf(held)
	if ok && life.User == id && life.Account == account.ID && account.Accepts(id, life.Made) && time.Until(life.End) > s.lifetime()/2 {
		return held, id, nil
	}
	if !account.Accepts(id, time.Now()) {
		// A revocation covers the second in which it is made.
		return "", "", fault.Errorf(fault.Transient, "cannot make NATS user %q: it was revoked in this second", g.Owner)
	}
	user, err := c.accounts.Keyring().User(g, s.lifetime())
	return user.Credentials, id, err
}

// revoking returns earlier users that are not revoked yet.
func (c Client) revoking(ctx context.Context, s Spec, now []Issued) ([]string, error) {
	old := slices.Clone(s.Known.Revoking)
	for _, u := range s.Known.Users {
		old = append(old, u.ID)
	}
	old = slices.DeleteFunc(old, func(id string) bool {
		return slices.ContainsFunc(now, func(u Issued) bool { return u.ID == id })
	})
	if len(old) == 0 {
		return nil, nil
	}
	revoked, err := c.accounts.Revoked(ctx, s.Namespace, old...)
	old = slices.DeleteFunc(old, func(id string) bool { return revoked[id] })
	slices.Sort(old)
	return slices.Compact(old), err
}

// Create has nothing to do: the account knows roles, not users.
func (c Client) Create(ctx context.Context, s Spec) error { return c.Update(ctx, s) }

// Update revokes earlier users.
func (c Client) Update(ctx context.Context, s Spec) error {
	if len(s.Known.Revoking) == 0 {
		return nil
	}
	return c.accounts.Revoke(ctx, s.Namespace, s.Known.Revoking...)
}

// Delete revokes all users.
func (c Client) Delete(ctx context.Context, s Spec) error {
	ids := slices.Clone(s.Known.Revoking)
	for _, u := range s.Known.Users {
		ids = append(ids, u.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	return c.accounts.Revoke(ctx, s.Namespace, ids...)
}

// Watch calls changed often enough for credentials to be renewed in time.
func (c Client) Watch(ctx context.Context, s Spec, changed func()) error {
	return external.Every(ctx, s.lifetime()/looks, changed)
}
