package natsauth

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"

	"github.com/gorizond/koldun/internal/fault"
)

// DefaultOverlap is how long replaced credentials are accepted, unless something else is
// said: makers look for a Cutoff every 20 seconds, and the kubelet takes a minute and a
// half at most to give a changed Secret to pods.
const DefaultOverlap = 2 * time.Minute

// Overlap returns a given overlap, or the default one for nil. One below 0 counts as 0.
func Overlap[D ~int64](given *D) time.Duration {
	if given == nil {
		return DefaultOverlap
	}
	return max(time.Duration(*given), 0)
}

// Tags of an account with a Cutoff.
const (
	tagBefore = "renew-before:"
	tagFrom   = "refuse-from:"
)

// A Cutoff replaces credentials of an account: those that were made at or before a time
// are made anew, and refused from another time on. The account's own JWT holds it, where
// all makers of credentials find it. The zero Cutoff replaces none.
type Cutoff struct{ Before, From time.Time }

// RevokeBefore makes the credentials of all users of an account invalid that were made at
// or before a time. They are refused when overlap has passed since the first call with
// that time; until then their makers replace them. So it has to be called again: see
// State.Due. Errors: Invalid (a time in the future), those of Set.
func (a *Accounts) RevokeBefore(ctx context.Context, namespace string, before time.Time, overlap time.Duration) error {
	now := time.Now()
	if before.After(now) {
		return inFuture(before)
	}
	return a.edit(ctx, namespace, func(claims *jwt.AccountClaims) error {
		c := cutoffOf(claims)
		if before.Unix() > c.Before.Unix() {
			c = Cutoff{Before: before, From: now.Add(overlap)}
		}
		c.keep(claims)
		if c.due(claims, now) {
			claims.RevokeAt(jwt.All, c.Before)
		}
		return nil
	})
}

// inFuture refuses a revocation that would cover credentials that are not made yet.
func inFuture(before time.Time) error {
	return fault.Errorf(fault.Invalid, "cannot revoke the credentials made until %s: that is in the future, and no credentials could be made before it", before.UTC().Format(time.RFC3339))
}

// Cutoff returns the time up to which credentials of the account of a namespace have to
// be made anew. Errors: NotFound, Transient.
func (a *Accounts) Cutoff(ctx context.Context, namespace string) (time.Time, error) {
	account, err := a.keyring.Account(namespace)
	if err != nil {
		return time.Time{}, err
	}
	claims, err := a.claims(ctx, account.ID)
	if err != nil {
		return time.Time{}, err
	}
	return State{revoked: claims.Revocations, Cutoff: cutoffOf(claims)}.Renewed(time.Time{}), nil
}

// Renewed returns the time up to which credentials have to be made anew: the latest of a
// given one, that of the Cutoff, and that up to which the account refuses all. Errors of
// clocks aside, it is in the past.
func (s State) Renewed(before time.Time) time.Time {
	for _, t := range []time.Time{s.Cutoff.Before, time.Unix(s.revoked[jwt.All], 0)} {
		if t.After(before) {
			before = t
		}
	}
	return before
}

// Due reports whether the account should refuse the credentials before its Cutoff, and
// does not.
func (s State) Due(now time.Time) bool {
	return s.Cutoff.due(&jwt.AccountClaims{Account: jwt.Account{Revocations: s.revoked}}, now)
}

// Refused returns the time up to which credentials of a user, or of all users for "", are
// refused. Zero: none are.
func (s State) Refused(user string) time.Time {
	if at := max(s.revoked[jwt.All], s.revoked[user]); at > 0 {
		return time.Unix(at, 0)
	}
	return time.Time{}
}

func (c Cutoff) due(claims *jwt.AccountClaims, now time.Time) bool {
	return !c.Before.IsZero() && !now.Before(c.From) && claims.Revocations[jwt.All] < c.Before.Unix()
}

// keep writes the Cutoff into claims.
func (c Cutoff) keep(claims *jwt.AccountClaims) {
	for _, tag := range append(jwt.TagList{}, claims.Tags...) {
		if strings.HasPrefix(tag, tagBefore) || strings.HasPrefix(tag, tagFrom) {
			claims.Tags.Remove(tag)
		}
	}
	if !c.Before.IsZero() {
		claims.Tags.Add(tagBefore+strconv.FormatInt(c.Before.Unix(), 10), tagFrom+strconv.FormatInt(c.From.Unix(), 10))
	}
}

func cutoffOf(claims *jwt.AccountClaims) (c Cutoff) {
	for _, tag := range claims.Tags {
		for prefix, to := range map[string]*time.Time{tagBefore: &c.Before, tagFrom: &c.From} {
			if text, ok := strings.CutPrefix(tag, prefix); ok {
				if at, err := strconv.ParseInt(text, 10, 64); err == nil {
					*to = time.Unix(at, 0)
				}
			}
		}
	}
	return c
}
