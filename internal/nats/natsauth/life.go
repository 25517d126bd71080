package natsauth

import (
	"time"

	"github.com/nats-io/jwt/v2"
)

// A Life is what the text of a credentials file says about its user.
type Life struct {
	User, Account string // public keys
	Made, End     time.Time
}

// LifeOf reads a credentials file. Credentials that never end have an End far away.
func LifeOf(credentials string) (l Life, ok bool) {
	token, err := jwt.ParseDecoratedJWT([]byte(credentials))
	if err != nil {
		return Life{}, false
	}
	c, err := jwt.DecodeUserClaims(token)
	if err != nil {
		return Life{}, false
	}
	l = Life{User: c.Subject, Account: c.IssuerAccount, Made: time.Unix(c.IssuedAt, 0), End: time.Unix(c.Expires, 0)}
	if c.Expires == 0 {
		l.End = l.Made.AddDate(100, 0, 0)
	}
	return l, true
}
