package natsauth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/internal/fault"
)

// A User is what a client connects with.
type User struct {
	ID          string // public key
	Credentials string // content of a NATS credentials file; a secret
	InboxPrefix string
}

// NewUser makes a user that is signed by a signing key of an account. change may set
// its rights, which are all of the account otherwise; it is nil or called once.
// Errors: Invalid (seed).
func NewUser(signing Seed, account, name string, change func(*jwt.UserClaims)) (User, error) {
	key, err := newKey(nkeys.CreateUser)
	if err != nil {
		return User{}, err
	}
	return newUser(key, signing, account, name, change)
}

func newUser(key signer, signing Seed, account, name string, change func(*jwt.UserClaims)) (User, error) {
	by, err := signerOf(signing)
	if err != nil {
		return User{}, fault.Errorf(fault.Invalid, "cannot make NATS user %q: %w", name, err)
	}
	c := jwt.NewUserClaims(key.public)
	c.Name, c.IssuerAccount = name, account
	if change != nil {
		change(c)
	}
	token, err := c.Encode(by.pair)
	if err != nil {
		return User{}, fault.Errorf(fault.Internal, "cannot make NATS user %q: %w", name, err)
	}
	text, err := jwt.FormatUserConfig(token, []byte(key.seed))
	if err != nil {
		return User{}, fault.Errorf(fault.Internal, "cannot make NATS user %q: %w", name, err)
	}
	return User{ID: key.public, Credentials: string(text), InboxPrefix: InboxPrefix(key.public)}, nil
}

// key returns the key of a user. Errors: Invalid.
func (u User) key() (signer, error) {
	pair, err := nkeys.ParseDecoratedUserNKey([]byte(u.Credentials))
	if err != nil {
		return signer{}, fault.Errorf(fault.Invalid, "cannot read the credentials of NATS user %q: they hold no seed of a user", u.ID)
	}
	seed, err := pair.Seed()
	if err != nil {
		return signer{}, fault.As(fault.Internal, err)
	}
	return signerOf(Seed(seed))
}

// checkTags refuses tags that would change the subjects of the role otherwise than
// meant: the server drops subjects whose tag is missing, takes wildcards in a value
// as such, and turns values to lower case.
func checkTags(role Role, tags map[Tag]string) error {
	for _, tag := range role.Tags() {
		if _, ok := tags[tag]; !ok {
			return fmt.Errorf("tag %q is missing", tag)
		}
	}
	for tag, value := range tags {
		if !slices.Contains(role.Tags(), tag) {
			return fmt.Errorf("the role has no tag %q", tag)
		}
		if !validTag(value) {
			return fmt.Errorf("tag %q: %q is no name in lower case", tag, value)
		}
	}
	return nil
}

func validTag(value string) bool {
	for part := range strings.SplitSeq(value, ".") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-_/", r)
		}) {
			return false
		}
	}
	return true
}
