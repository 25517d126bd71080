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
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// defaultLifetime of credentials.
const defaultLifetime = 24 * time.Hour

// A Spec describes users.
type Spec struct {
	Users        []User             `json:"users"`
	Lifetime     *external.Duration `json:"lifetime,omitempty"`
	RevokeBefore *time.Time         `json:"revokeBefore,omitempty"`
	Overlap      *external.Duration `json:"overlap,omitempty"`

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
	Account string   `json:"account,omitempty"`
	Users   []Issued `json:"users,omitempty"`
	// RevokedBefore is the time up to which credentials of all users are refused.
	RevokedBefore *time.Time `json:"revokedBefore,omitempty"`
	Revoking      []string   `json:"revoking,omitempty"`
	// RevokingSince is when earlier users were removed that Revoking lists.
	RevokingSince *time.Time `json:"revokingSince,omitempty"`
}

// Issued is a user with credentials.
type Issued struct {
	Name   string     `json:"name"`
	ID     string     `json:"id"`
	Issued *time.Time `json:"issued,omitempty"`
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
// their life is left and they are not to be revoked, or new ones. The users exist as soon
// as their account does.
func (c Client) Observe(ctx context.Context, s Spec) (external.Observation[Status], error) {
	state, err := c.accounts.State(ctx, s.Namespace)
	if fault.Is(err, fault.NotFound) {
		return external.Observation[Status]{Message: noAccount(s.Namespace).Error()}, nil
	}
	if err != nil {
		return external.Observation[Status]{}, err
	}
	o := external.Observation[Status]{Exists: true, Ready: true, Connection: maps.Clone(c.address), Status: Status{Account: state.ID}}
	for _, u := range s.Users {
		g, err := s.grant(u)
		if err != nil {
			return external.Observation[Status]{}, err
		}
		text, id, err := c.credentials(ctx, s, g, File(u.Name), state)
		if err != nil {
			return external.Observation[Status]{}, err
		}
		life, _ := natsauth.LifeOf(text)
		o.Connection[File(u.Name)] = []byte(text)
		o.Status.Users = append(o.Status.Users, Issued{u.Name, id, &life.Made})
	}
	s.revocations(&o, state, time.Now())
	o.UpToDate = len(o.Status.Revoking) == 0
	return o, nil
}

// credentials returns those of the Secret, or new ones. It waits for the next second if
// credentials of this one are refused.
func (c Client) credentials(ctx context.Context, s Spec, g natsauth.Grant, file string, account natsauth.State) (text, id string, err error) {
	id, err = c.accounts.Keyring().UserID(g)
	if err != nil {
		return "", "", err
	}
	held := string(s.Stored[file])
	life, ok := natsauth.LifeOf(held)
	renewed := s.renewed(account)
	fresh := func(made time.Time) bool { return account.Accepts(id, made) && made.Unix() > renewed.Unix() }
	if ok && life.User == id && life.Account == account.ID && fresh(life.Made) && time.Until(life.End) > s.lifetime()/2 {
		return held, id, nil
	}
	if next := time.Now().Truncate(time.Second).Add(time.Second); !fresh(time.Now()) && fresh(next) {
		select {
		case <-ctx.Done():
			return "", "", fault.Errorf(fault.Interrupted, "cannot make NATS user %q: %w", g.Owner, ctx.Err())
		case <-time.After(time.Until(next)):
		}
	}
	if !fresh(time.Now()) {
		return "", "", fault.Errorf(fault.Invalid, "cannot revoke the credentials of NATS user %q made until %s: that is in the future, and newer ones cannot be made yet", g.Owner, stamp(renewed))
	}
	user, err := c.accounts.Keyring().User(g, s.lifetime())
	return user.Credentials, id, err
}

// Create requires the account to exist. There is nothing else to do: the account knows
// roles, not users.
func (c Client) Create(ctx context.Context, s Spec) error {
	_, err := c.accounts.Cutoff(ctx, s.Namespace)
	if fault.Is(err, fault.NotFound) {
		return noAccount(s.Namespace)
	}
	return err
}

func noAccount(namespace string) error {
	return fault.Errorf(fault.NotFound, "namespace %q has no NATS account: make its NATSAccount", namespace)
}

// Update revokes credentials.
func (c Client) Update(ctx context.Context, s Spec) error {
	return c.revoke(ctx, s, s.Known.Revoking, s.Known.Users)
}

// Delete revokes all users.
func (c Client) Delete(ctx context.Context, s Spec) error {
	ids := slices.Clone(s.Known.Revoking)
	for _, u := range s.Known.Users {
		ids = append(ids, u.ID)
	}
	return c.revoke(ctx, s, ids, nil)
}
