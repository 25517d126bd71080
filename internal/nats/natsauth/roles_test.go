package natsauth_test

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

const (
	session = "team_tiny"
	runner  = "team_tiny-root-0"
	model   = "model/team/tiny"
	stage   = "team/0123456789abcdef/fetch"
)

// tags returns the tags of the users of these tests.
func tags(r natsauth.Role) map[natsauth.Tag]string {
	all := map[natsauth.Tag]string{natsauth.Session: session, natsauth.RunnerName: runner, natsauth.Model: model, natsauth.Progress: stage}
	out := map[natsauth.Tag]string{}
	for _, t := range r.Tags() {
		out[t] = all[t]
	}
	return out
}

// TestRolesEnd tries what the users of each role must not do, and what they must.
func TestRolesEnd(t *testing.T) {
	t.Parallel()
	s := natstest.StartOperator(t)
	account := s.Account("team", natsauth.Limits{})
	ensure(t, s.As(account, natsauth.Provider, nil))
	const consumer = "$JS.API.CONSUMER.CREATE."
	for role, c := range map[natsauth.Role]struct{ pub, sub, noPub, noSub []string }{
		natsauth.Gateway: {
			pub: []string{names.RequestSubject("s", "t"), names.CancelSubject("s", "r"), names.UseSubject("team"), "$KV.koldun_demand.s"},
			sub: []string{names.FramesSubject("s", "r"), names.UseSubject("team")},
			noPub: []string{
				"$KV.koldun_models.model/team/tiny", "$KV.koldun_tokens.token/x", "$KV.koldun_runners.s.r", "koldun.v1.end.s.t.r", "koldun.v1.out.s.r",
				"koldun.v1.run.s.r", "$JS.API.STREAM.MSG.GET.KOLDUN_REQUESTS", "$JS.API.DIRECT.GET.KV_koldun_tokens", consumer + "KOLDUN_REQUESTS.c.koldun.v1.req.>",
				"$JS.API.STREAM.DELETE.KOLDUN_REQUESTS", "$JS.API.STREAM.PURGE.KOLDUN_REQUESTS", "$SYS.REQ.CLAIMS.UPDATE",
			},
			noSub: []string{"koldun.v1.req.>", "koldun.v1.run.*.*", "$KV.koldun_tokens.>", ">", "_INBOX.>"},
		},
		natsauth.Dispatcher: {
			pub: []string{"koldun.v1.run.s.r", "koldun.v1.end.s.t.r", "$KV.koldun_leases.s"},
			sub: []string{"koldun.v1.done.s", "koldun.v1.depth.s", "koldun.v1.cancel.s.*", "koldun.v1.resume.s.*"},
			noPub: []string{
				"$KV.koldun_tokens.token/x", "$KV.koldun_models.m", "$KV.koldun_runners.s.r", "koldun.v1.req.s.t",
				consumer + "KV_koldun_tokens.c.$KV.koldun_tokens.>", "$JS.API.STREAM.DELETE.KOLDUN_REQUESTS",
			},
			noSub: []string{"$KV.koldun_tokens.>", "koldun.v1.req.>", "_INBOX.>"},
		},
		natsauth.Runner: {
			pub: []string{
				"koldun.v1.done." + session, "koldun.v1.mark." + session, "koldun.v1.out." + session + ".r", "$KV.koldun_runners." + session + "." + runner,
				"koldun.v1.members." + session + "." + model,
			},
			sub: []string{
				"koldun.v1.run." + session + "." + runner, "koldun.v1.cancel." + session + ".*", "$KV.koldun_models." + model,
				"koldun.v1.stored.koldun_runners." + session + "." + runner,
			},
			noPub: []string{
				"koldun.v1.done.team_other", "koldun.v1.out.team_other.r", "$KV.koldun_runners." + session + ".team_tiny-root-1", "$KV.koldun_tokens.token/x",
				"$JS.API.DIRECT.GET.KV_koldun_tokens.$KV.koldun_tokens.token/x", "$JS.API.DIRECT.GET.KV_koldun_models", "$JS.API.INFO",
				"$JS.API.DIRECT.GET.KV_koldun_models.$KV.koldun_models." + model, "koldun.v1.members." + session + ".model/team/other", "$KV.koldun_models." + model,
				"koldun.v1.end." + session + ".t.r", "koldun.v1.req." + session + ".t", consumer + "KV_koldun_models.c.$KV.koldun_models." + model,
				consumer + "KOLDUN_REQUESTS.c.koldun.v1.req.>", "$JS.API.STREAM.INFO.KV_koldun_tokens", "$JS.API.STREAM.NAMES", "koldun.v1.use.team",
			},
			noSub: []string{
				"koldun.v1.run." + session + ".*", "koldun.v1.run.*.*", "koldun.v1.cancel.*.*", "koldun.v1.req.>", "koldun.v1.out.>",
				"$KV.koldun_tokens.>", "$KV.koldun_models.>", ">", "_INBOX.>",
			},
		},
		natsauth.Job: {
			pub:   []string{"$KV.koldun_progress." + stage},
			sub:   []string{"koldun.v1.stored.koldun_progress." + stage},
			noPub: []string{"$JS.API.INFO", "$KV.koldun_progress.team/0123456789abcdef/convert", "$KV.koldun_models.m", "$JS.API.STREAM.INFO.KV_koldun_progress", "koldun.v1.req.s.t"},
			noSub: []string{"$KV.koldun_progress.>", "koldun.v1.stored.koldun_progress.*", "koldun.v1.>", "_INBOX.>"},
		},
		natsauth.Provider: {
			pub:   []string{"$JS.API.STREAM.CREATE.X", "$KV.koldun_models.m", "$KV.koldun_tokens.t", "koldun.v1.drain.s.r"},
			sub:   []string{"$JS.EVENT.ADVISORY.STREAM.CREATED.X"},
			noPub: []string{"koldun.v1.req.s.t", "koldun.v1.run.s.r", "koldun.v1.end.s.t.r", "koldun.v1.out.s.r", "$JS.API.STREAM.MSG.GET.KOLDUN_DEAD", "$SYS.REQ.CLAIMS.UPDATE"},
			noSub: []string{"koldun.v1.req.>", "koldun.v1.out.>", "_INBOX.>"},
		},
		natsauth.Operator: {
			pub:   []string{"koldun.v1.req.s.t", "koldun.v1.cancel.s.r", "$JS.API.STREAM.MSG.DELETE.KOLDUN_DEAD"},
			sub:   []string{"koldun.v1.out.s.r"},
			noPub: []string{"koldun.v1.end.s.t.r", "$JS.API.STREAM.PURGE.KOLDUN_REQUESTS", "$KV.koldun_tokens.t", "koldun.v1.run.s.r"},
			noSub: []string{"koldun.v1.req.>", "$KV.koldun_tokens.>"},
		},
	} {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			cfg := s.As(account, role, tags(role))
			publish := func(nc *nats.Conn, subject string) error { return nc.Publish(subject, nil) }
			subscribe := func(nc *nats.Conn, subject string) error { _, err := nc.SubscribeSync(subject); return err }
			for _, subject := range c.pub {
				if err := try(t, cfg, subject, publish); err != nil {
					t.Errorf("publish on %q: %v", subject, err)
				}
			}
			for _, subject := range c.sub {
				if err := try(t, cfg, subject, subscribe); err != nil {
					t.Errorf("subscribe to %q: %v", subject, err)
				}
			}
			for _, subject := range c.noPub {
				if err := try(t, cfg, subject, publish); !errors.Is(err, nats.ErrPermissionViolation) {
					t.Errorf("publish on %q: %v, want a violation of permissions", subject, err)
				}
			}
			for _, subject := range c.noSub {
				if err := try(t, cfg, subject, subscribe); !errors.Is(err, nats.ErrPermissionViolation) {
					t.Errorf("subscribe to %q: %v, want a violation of permissions", subject, err)
				}
			}
		})
	}
}

// try does something on a connection of its own, and returns what the server objects to.
func try(t *testing.T, cfg bus.Config, subject string, do func(*nats.Conn, string) error) error {
	t.Helper()
	nc, err := nats.Connect(cfg.URL, nats.UserCredentialBytes([]byte(cfg.Creds)), nats.CustomInboxPrefix(cfg.InboxPrefix))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := do(nc, subject); err != nil {
		return err
	}
	if err := nc.Flush(); err != nil { // the server objects before it answers
		return err
	}
	return nc.LastError()
}

func ensure(t *testing.T, cfg bus.Config) *bus.Bus {
	t.Helper()
	b, err := bus.Connect(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := b.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAccountsSeeNothingOfOthers gives two namespaces the same subjects and keys.
func TestAccountsSeeNothingOfOthers(t *testing.T) {
	t.Parallel()
	s := natstest.StartOperator(t)
	victim, hostile := s.Account("victim", natsauth.Limits{}), s.Account("hostile", natsauth.Limits{})
	mine, theirs := ensure(t, s.As(victim, natsauth.Provider, nil)), ensure(t, s.As(hostile, natsauth.Provider, nil))
	if _, err := mine.Put(t.Context(), names.ModelsBucket, model, map[string]string{"owner": "victim"}); err != nil {
		t.Fatal(err)
	}
	if got, _, err := theirs.GetBytes(t.Context(), names.ModelsBucket, model); err == nil {
		t.Errorf("another account reads %s", got)
	}
	if err := theirs.JetStream().DeleteStream(t.Context(), names.RequestStream); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Manager().ViewStream(t.Context(), names.RequestStream); err != nil {
		t.Errorf("the stream of an account is gone with that of another: %v", err)
	}
}

// TestLimitsOfAccounts fills one account. The other goes on.
func TestLimitsOfAccounts(t *testing.T) {
	t.Parallel()
	s := natstest.StartOperator(t)
	small := s.Account("small", natsauth.Limits{Streams: 1, Connections: 2, Consumers: 2})
	b, err := bus.Connect(t.Context(), s.As(small, natsauth.Provider, nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := b.EnsureKV(t.Context(), bus.KVSpec{Bucket: names.Bucket{Name: "one"}, History: 1}); err != nil {
		t.Fatal(err)
	}
	if err := b.EnsureKV(t.Context(), bus.KVSpec{Bucket: names.Bucket{Name: "two"}, History: 1}); err == nil {
		t.Error("the account has more streams than its limit")
	}
	cfg := s.As(small, natsauth.Gateway, nil)
	connect := func() (*nats.Conn, error) {
		return nats.Connect(cfg.URL, nats.UserCredentialBytes([]byte(cfg.Creds)))
	}
	second, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Close)
	if third, err := connect(); err == nil {
		third.Close()
		t.Error("the account has more connections than its limit")
	}
}
