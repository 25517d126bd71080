package natsuser_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/natsuser"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/waittest"
)

// mount writes the credentials of a user into a file, as the kubelet does with those of a
// Secret, and returns its path.
func (s *scene) mount(dir, user string) string {
	s.t.Helper()
	path := filepath.Join(dir, natsuser.File(user))
	err := os.WriteFile(path+".new", s.spec.Stored[natsuser.File(user)], 0o600)
	if err = errors.Join(err, os.Rename(path+".new", path)); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// holder connects with a mounted file, which it reads again.
func (s *scene) holder(path string) *bus.Bus {
	s.t.Helper()
	b, err := bus.Connect(waittest.Context(s.t), bus.Config{URL: s.server.URL(), CredsFile: path, Patience: time.Minute})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(b.Close)
	return b
}

// made returns when the credentials in the Secret were made.
func (s *scene) made(user string) time.Time {
	s.t.Helper()
	life, ok := natsauth.LifeOf(string(s.spec.Stored[natsuser.File(user)]))
	if !ok {
		s.t.Fatalf("the Secret has no credentials of %q", user)
	}
	return life.Made
}

// nextSecond returns when credentials can be made that are newer than those of now.
func nextSecond(t *testing.T) {
	t.Helper()
	now := time.Now().Unix()
	waittest.Until(t, "the next second", func() bool { return time.Now().Unix() > now })
}

// TestLeakedCredentials revokes credentials that a thief is connected with, for one
// resource or for the whole account, at once or after an overlap. The holder of the file
// stays, and each of its requests is answered.
func TestLeakedCredentials(t *testing.T) {
	now := func() *time.Time { at := time.Now().Truncate(time.Second); return &at }
	for name, c := range map[string]struct {
		overlap time.Duration
		revoke  func(s *scene, overlap time.Duration)
	}{
		"Users":        {0, func(s *scene, _ time.Duration) { s.spec.RevokeBefore = now() }},
		"UsersOverlap": {2 * time.Second, func(s *scene, _ time.Duration) { s.spec.RevokeBefore = now() }},
		"Account":      {time.Second, (*scene).revokeAll},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, gatewayAndDispatcher()...)
			overlap := external.Duration(c.overlap)
			s.spec.Overlap = &overlap
			s.observe()
			dir := t.TempDir()
			gateway, dispatcher := s.holder(s.mount(dir, "gateway")), s.holder(s.mount(dir, "dispatcher"))
			if _, err := dispatcher.Conn().Subscribe(names.CancelSubject("s", "*"), func(m *nats.Msg) { _ = m.Respond([]byte("1")) }); err != nil {
				t.Fatal(err)
			}
			if err := dispatcher.Flush(); err != nil {
				t.Fatal(err)
			}
			thief, err := s.connect("gateway")
			if err != nil {
				t.Fatal(err)
			}
			stolen := s.spec.Stored
			stop := load(t, gateway)

			before := s.made("gateway")
			c.revoke(s, c.overlap)
			o := s.observe()
			s.mount(dir, "gateway")
			s.mount(dir, "dispatcher")
			if !s.made("gateway").After(before) || !s.made("dispatcher").After(before) || !o.Status.Users[0].Issued.Equal(s.made("gateway")) {
				t.Fatalf("the Secret has credentials of %s, and the status says %v", s.made("gateway"), o.Status)
			}
			if c.overlap > 0 && (!thief.Connected() || !o.UpToDate) {
				t.Errorf("credentials are refused before the end of the overlap: %+v", o.Status)
			}
			waittest.Until(t, "the server to refuse the thief", func() bool {
				if o := s.observe(); !o.UpToDate {
					if err := s.client.Update(t.Context(), s.spec); err != nil {
						t.Fatal(err)
					}
				}
				s.finish()
				return fault.Is(thief.Lost(), fault.Denied)
			})
			if asked := stop(); asked == 0 {
				t.Error("nothing was asked")
			}
			if o := s.observe(); !o.UpToDate || o.Message != "" || o.Status.RevokedBefore == nil || o.Status.RevokedBefore.Before(before) {
				t.Errorf("Observe after the revocation: %+v, %q", o.Status, o.Message)
			}
			mounted := s.spec.Stored
			s.spec.Stored = stolen
			if _, err := s.connect("dispatcher"); !fault.Is(err, fault.Denied) {
				t.Errorf("stolen credentials connect: %v", err)
			}
			s.spec.Stored = mounted
			if _, err := s.connect("dispatcher"); err != nil {
				t.Errorf("newer credentials do not: %v", err)
			}
		})
	}
}

// revokeAll does what a NATSAccount does.
func (s *scene) revokeAll(overlap time.Duration) {
	s.t.Helper()
	s.all, s.overlap = time.Now().Truncate(time.Second), overlap
	s.finish()
}

func (s *scene) finish() {
	s.t.Helper()
	if s.all.IsZero() {
		return
	}
	if err := s.server.Accounts().RevokeBefore(s.t.Context(), "team", s.all, s.overlap); err != nil {
		s.t.Fatal(err)
	}
}

// load asks the dispatcher, again while one of the two has no connection, until stop is
// called. Each question needs an answer.
func load(t *testing.T, gateway *bus.Bus) (stop func() (asked int)) {
	t.Helper()
	ctx, cancel := context.WithCancel(waittest.Context(t))
	done := make(chan int, 1)
	go func() {
		asked := 0
		defer func() { done <- asked }()
		for ctx.Err() == nil {
			once, ended := context.WithTimeout(context.WithoutCancel(ctx), waittest.Limit(time.Second))
			_, err := bus.Call[int](once, gateway, names.CancelSubject("s", "r"), 1)
			ended()
			switch {
			case err == nil:
				asked++
			case !fault.Is(err, fault.Transient) && !errors.Is(err, nats.ErrNoResponders):
				t.Errorf("a request after %d others: %v", asked, err)
				return
			}
		}
	}()
	return func() int { cancel(); return waittest.Receive(t, "the end of the load", done) }
}

// TestRevokeInTheFuture would leave no credentials that are accepted.
func TestRevokeInTheFuture(t *testing.T) {
	s := newScene(t, natsuser.User{Name: "gateway", Role: "gateway"})
	s.observe()
	later := time.Now().Add(time.Hour)
	s.spec.RevokeBefore = &later
	if _, err := s.client.Observe(t.Context(), s.spec); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "future") {
		t.Errorf("Observe: %v, want an error of kind Invalid", err)
	}
	if err := s.server.Accounts().RevokeBefore(t.Context(), "team", later, 0); !fault.Is(err, fault.Invalid) {
		t.Errorf("RevokeBefore of the account: %v, want an error of kind Invalid", err)
	}
	if _, err := s.connect("gateway"); err != nil {
		t.Error(err)
	}
}

// TestRemovedTwice removes a user that was removed and added again: its earlier
// revocation does not cover the newer credentials.
func TestRemovedTwice(t *testing.T) {
	s := newScene(t, gatewayAndDispatcher()...)
	all := s.spec.Users
	for range 2 {
		s.spec.Users = all
		s.observe()
		dispatcher, err := s.connect("dispatcher")
		if err != nil {
			t.Fatal(err)
		}
		s.spec.Users = all[:1]
		if o := s.observe(); o.UpToDate || len(o.Status.Revoking) != 1 {
			t.Fatalf("Observe without the dispatcher: %+v", o.Status)
		}
		if err := s.client.Update(t.Context(), s.spec); err != nil {
			t.Fatal(err)
		}
		if o := s.observe(); !o.UpToDate || len(o.Status.Revoking) != 0 {
			t.Fatalf("Observe after Update: %+v", o.Status)
		}
		waittest.Until(t, "the server to refuse the dispatcher", func() bool { return fault.Is(dispatcher.Lost(), fault.Denied) })
		nextSecond(t)
	}
}

// TestNoAccount observes users of a namespace without an account.
func TestNoAccount(t *testing.T) {
	s := newScene(t, natsuser.User{Name: "gateway", Role: "gateway"})
	s.spec.Namespace = "nothing"
	if o := s.observe(); o.Exists || !strings.Contains(o.Message, `namespace "nothing" has no NATS account`) {
		t.Errorf("Observe: %+v", o)
	}
	if err := s.client.Create(t.Context(), s.spec); !fault.Is(err, fault.NotFound) {
		t.Errorf("Create: %v, want an error of kind NotFound", err)
	}
}

// TestAccountAsksForOthers watches users that last for long, while their account has all
// credentials made anew.
func TestAccountAsksForOthers(t *testing.T) {
	t.Parallel()
	s := newScene(t, natsuser.User{Name: "gateway", Role: "gateway"})
	s.observe()
	before := s.made("gateway")
	ctx, cancel := context.WithCancel(waittest.Context(t))
	ended, asked := make(chan error, 1), make(chan struct{}, 1)
	go func() { ended <- s.client.Watch(ctx, s.spec, cancel); asked <- struct{}{} }()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	waittest.Until(t, "a look", func() bool { // the watch may begin late
		select {
		case <-asked:
			return true
		case <-again.C:
			s.revokeAll(time.Hour)
			return false
		}
	})
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if s.observe(); !s.made("gateway").After(before) {
		t.Error("the credentials stay")
	}
}
