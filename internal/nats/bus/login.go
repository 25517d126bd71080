package bus

import (
	"os"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// A login is what a credentials file says.
type login struct {
	text    string // content of the file, with the seed
	token   string // JWT
	user    string // public key
	scoped  bool   // the rights are those of a role, not of the user
	issued  time.Time
	expires time.Time // zero: never
}

// readLogin reads a credentials file. Errors: NotFound, Invalid without secrets.
func readLogin(file string) (login, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return login{}, fault.Errorf(fault.NotFound, "cannot read NATS credentials: %w", err)
	}
	l, err := parseLogin(string(text))
	if err != nil {
		return login{}, fault.Errorf(fault.KindOf(err), "cannot use credentials file %q: %w", file, err)
	}
	return l, nil
}

// parseLogin reads the content of a credentials file. Errors: Invalid, without secrets.
func parseLogin(text string) (login, error) {
	token, err := nkeys.ParseDecoratedJWT([]byte(text))
	if err != nil {
		return login{}, fault.Errorf(fault.Invalid, "the credentials hold no JWT of a user")
	}
	if _, err := nkeys.ParseDecoratedUserNKey([]byte(text)); err != nil {
		return login{}, fault.Errorf(fault.Invalid, "the credentials hold no seed of a user")
	}
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil {
		return login{}, fault.Errorf(fault.Invalid, "the credentials hold no JWT of a user")
	}
	out := login{text: text, token: token, user: claims.Subject, scoped: claims.HasEmptyPermissions(), issued: time.Unix(claims.IssuedAt, 0)}
	if claims.Expires != 0 {
		out.expires = time.Unix(claims.Expires, 0)
	}
	return out, nil
}

// sign answers the server's challenge.
func (l login) sign(nonce []byte) ([]byte, error) {
	pair, err := nkeys.ParseDecoratedUserNKey([]byte(l.text))
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "the credentials hold no seed of a user")
	}
	defer pair.Wipe()
	return pair.Sign(nonce)
}

// inbox returns the prefix of the subjects of answers to a user. A user with the rights
// of a role may subscribe only to its own.
func (c Config) inbox(l login) string {
	if c.InboxPrefix == "" && l.scoped {
		return natsauth.InboxPrefix(l.user)
	}
	return c.InboxPrefix
}
