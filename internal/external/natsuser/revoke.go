package natsuser

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// renewed returns the time up to which credentials are made anew.
func (s Spec) renewed(account natsauth.State) time.Time {
	if s.RevokeBefore == nil {
		return account.Renewed(time.Time{})
	}
	return account.Renewed(*s.RevokeBefore)
}

// revocations adds to an observation which users have credentials that are to be refused
// now: users that were removed, and those with newer credentials than RevokeBefore, when
// the overlap is over.
func (s Spec) revocations(o *external.Observation[Status], account natsauth.State, now time.Time) {
	status := &o.Status
	status.removed(s.Known, account, now)
	if len(status.Users) == 0 {
		return
	}
	refused, newest := account.Refused(status.Users[0].ID), time.Time{}
	for _, u := range status.Users {
		if at := account.Refused(u.ID); at.Before(refused) {
			refused = at
		}
		if u.Issued.After(newest) {
			newest = *u.Issued
		}
	}
	if !refused.IsZero() {
		status.RevokedBefore = &refused
	}
	// Credentials of longer ago have ended by themselves.
	if s.RevokeBefore == nil || s.RevokeBefore.Unix() <= refused.Unix() || now.Sub(*s.RevokeBefore) > natsauth.MaxLife {
		return
	}
	if due := newest.Add(natsauth.Overlap(s.Overlap)); now.Before(due) {
		o.Message = fmt.Sprintf("credentials made until %s are replaced, and are refused from %s on", stamp(*s.RevokeBefore), stamp(due))
		return
	}
	for _, u := range status.Users {
		status.Revoking = append(status.Revoking, u.ID)
	}
	slices.Sort(status.Revoking)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// removed lists earlier users, until all that they had when they were removed is revoked.
func (o *Status) removed(known Status, account natsauth.State, now time.Time) {
	stays := func(id string) bool {
		return slices.ContainsFunc(o.Users, func(u Issued) bool { return u.ID == id })
	}
	since := now
	if known.RevokingSince != nil {
		since = *known.RevokingSince
	}
	for _, id := range known.Revoking {
		if !stays(id) && account.Accepts(id, since) {
			o.Revoking = append(o.Revoking, id)
		}
	}
	for _, u := range known.Users {
		if !stays(u.ID) && account.Accepts(u.ID, now) {
			o.Revoking, since = append(o.Revoking, u.ID), now
		}
	}
	if slices.Sort(o.Revoking); len(o.Revoking) > 0 {
		o.Revoking, o.RevokingSince = slices.Compact(o.Revoking), &since
	}
}

// revoke makes credentials invalid: those until RevokeBefore of users that stay, and all
// of others.
func (c Client) revoke(ctx context.Context, s Spec, ids []string, stay []Issued) error {
	if len(ids) == 0 {
		return nil
	}
	users, now := map[string]time.Time{}, time.Now()
	for _, id := range ids {
		users[id] = now
		if s.RevokeBefore != nil && slices.ContainsFunc(stay, func(u Issued) bool { return u.ID == id }) {
			users[id] = *s.RevokeBefore
		}
	}
	return c.accounts.Revoke(ctx, s.Namespace, users)
}
