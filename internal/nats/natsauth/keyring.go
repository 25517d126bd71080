package natsauth

import (
	"crypto/hkdf"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/internal/fault"
)

// MinKeyring is the least length of what keys are derived from, in bytes.
const MinKeyring = 32

// A Keyring is the secret that the keys of accounts and their users follow from. So no
// key has to be stored, and the same namespace has the same account after everything but
// the Keyring is lost. Who holds it can make users of all accounts.
type Keyring string

// Check refuses a Keyring that could be guessed. Errors: Invalid.
func (k Keyring) Check() error {
	if len(k) < MinKeyring {
		return fault.Errorf(fault.Invalid, "the key that NATS accounts are derived from has %d bytes, and needs at least %d: make one with \"openssl rand -base64 48\"", len(k), MinKeyring)
	}
	return nil
}

// Account returns the account of a namespace.
func (k Keyring) Account(namespace string) (Account, error) {
	id, err := k.key(nkeys.PrefixByteAccount, "account", namespace)
	if err != nil {
		return Account{}, err
	}
	out := Account{ID: id.public, Roles: map[Role]Seed{}}
	for _, r := range Roles() {
		key, err := k.key(nkeys.PrefixByteAccount, "role", namespace, string(r))
		if err != nil {
			return Account{}, err
		}
		out.Roles[r] = key.seed
	}
	return out, nil
}

// A Grant describes a user of a namespace's account.
type Grant struct {
	Namespace string
	Owner     string // tells grants of the same role and tags apart
	Role      Role
	Tags      map[Tag]string
}

// User returns credentials for a grant that end after the given time; 0: never. All
// credentials for a grant are of the same user. Errors: Invalid (role, tags).
func (k Keyring) User(g Grant, lives time.Duration) (User, error) {
	account, err := k.Account(g.Namespace)
	if err != nil {
		return User{}, err
	}
	key, err := k.userKey(g)
	if err != nil {
		return User{}, err
	}
	return account.user(key, g.Role, g.Tags, lives)
}

// UserID returns the public key of the user of a grant.
func (k Keyring) UserID(g Grant) (string, error) {
	key, err := k.userKey(g)
	return key.public, err
}

func (k Keyring) userKey(g Grant) (signer, error) {
	parts := []string{"user", g.Namespace, g.Owner, string(g.Role)}
	for _, t := range g.Role.Tags() {
		parts = append(parts, g.Tags[t])
	}
	return k.key(nkeys.PrefixByteUser, parts...)
}

// key derives the key for a purpose. No part holds a line break: names and tags have
// none.
func (k Keyring) key(prefix nkeys.PrefixByte, purpose ...string) (signer, error) {
	if err := k.Check(); err != nil {
		return signer{}, err
	}
	raw, err := hkdf.Key(sha256.New, []byte(k), nil, "koldun nats v1\n"+strings.Join(purpose, "\n"), 32)
	if err != nil {
		return signer{}, fault.Errorf(fault.Internal, "cannot derive a key: %w", err)
	}
	pair, err := nkeys.FromRawSeed(prefix, raw)
	if err != nil {
		return signer{}, fault.Errorf(fault.Internal, "cannot derive a key: %w", err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return signer{}, fault.Errorf(fault.Internal, "cannot derive a key: %w", err)
	}
	return signerOf(Seed(seed))
}
