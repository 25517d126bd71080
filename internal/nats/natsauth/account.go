package natsauth

import (
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/internal/fault"
)

// Limits bound what an account uses. Zero numbers mean no limit.
type Limits struct {
	Connections int64
	DiskBytes   int64 // of all streams; one with three replicas counts three times
	Streams     int64
	Consumers   int64 // of each stream
}

// An Account is a tenant of the server. Its seeds are secrets: one lets its holder
// make users of that role.
type Account struct {
	ID    string        // public key
	Roles map[Role]Seed // signing keys of the roles
}

// NewAccount makes an account with a signing key for each role.
func NewAccount() (Account, error) {
	id, err := newKey(nkeys.CreateAccount)
	if err != nil {
		return Account{}, err
	}
	out := Account{ID: id.public, Roles: map[Role]Seed{}}
	for _, r := range Roles() {
		k, err := newKey(nkeys.CreateAccount)
		if err != nil {
			return Account{}, err
		}
		out.Roles[r] = k.seed
	}
	return out, nil
}

// JWT returns the account's JWT, signed by the operator's signing key. name is for
// people. Errors: Invalid (seed).
func (a Account) JWT(signing Seed, name string, l Limits) (string, error) {
	operator, err := signerOf(signing)
	if err != nil {
		return "", fault.Errorf(fault.Invalid, "cannot sign account %q: %w", name, err)
	}
	c, err := a.claims(name, l)
	if err != nil {
		return "", err
	}
	text, err := c.Encode(operator.pair)
	if err != nil {
		return "", fault.Errorf(fault.Internal, "cannot sign account %q: %w", name, err)
	}
	return text, nil
}

// claims returns the account's claims with the rights of all roles. Errors: Invalid
// (seed).
func (a Account) claims(name string, l Limits) (*jwt.AccountClaims, error) {
	c := jwt.NewAccountClaims(a.ID)
	c.Name = name
	c.Limits.Conn = orUnlimited(l.Connections)
	c.Limits.JetStreamLimits = jwt.JetStreamLimits{
		MemoryStorage: 0, // Koldun's streams are files
		DiskStorage:   orUnlimited(l.DiskBytes),
		Streams:       orUnlimited(l.Streams),
		Consumer:      orUnlimited(l.Consumers),
	}
	for _, role := range Roles() {
		key, err := signerOf(a.Roles[role])
		if err != nil {
			return nil, fault.Errorf(fault.Invalid, "cannot sign account %q: role %q: %w", name, role, err)
		}
		scope := jwt.NewUserScope()
		scope.Key, scope.Role = key.public, string(role)
		scope.Template.Permissions = role.Permissions()
		c.SigningKeys.AddScopedSigner(scope)
	}
	return c, nil
}

// User makes a user of a role. Tags must be those that the role needs. The user
// expires after the given time; 0: never. Errors: Invalid (tags, seed).
func (a Account) User(role Role, tags map[Tag]string, lives time.Duration) (User, error) {
	key, err := newKey(nkeys.CreateUser)
	if err != nil {
		return User{}, err
	}
	return a.user(key, role, tags, lives)
}

// Renew makes credentials for an existing user, which its process can change to without
// a restart: its key stays, and with it the subjects of answers. Errors: Invalid (user,
// tags, seed).
func (a Account) Renew(u User, role Role, tags map[Tag]string, lives time.Duration) (User, error) {
	key, err := u.key()
	if err != nil {
		return User{}, err
	}
	return a.user(key, role, tags, lives)
}

func (a Account) user(key signer, role Role, tags map[Tag]string, lives time.Duration) (User, error) {
	if err := checkTags(role, tags); err != nil {
		return User{}, fault.Errorf(fault.Invalid, "cannot make a NATS user of role %q: %w", role, err)
	}
	return newUser(key, a.Roles[role], a.ID, string(role), func(c *jwt.UserClaims) {
		c.UserPermissionLimits = jwt.UserPermissionLimits{} // those of the scope hold
		for _, tag := range role.Tags() {                   // in the same order each time
			c.Tags.Add(string(tag) + ":" + tags[tag])
		}
		if lives > 0 {
			c.Expires = time.Now().Add(lives).Unix()
		}
	})
}

func orUnlimited(n int64) int64 {
	if n == 0 {
		return jwt.NoLimit
	}
	return n
}
