package bus_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/waittest"
)

// ofFetch returns the tags of the user of a Job, which may do little.
func ofFetch() map[natsauth.Tag]string {
	return map[natsauth.Tag]string{natsauth.Progress: "team/0123456789abcdef/fetch"}
}

// TestMissingRights checks that requests for which a user lacks the right end with an error
// that names the subject, instead of waiting for an answer that never comes.
func TestMissingRights(t *testing.T) {
	s := natstest.StartOperator(t)
	account := s.Account("team", natsauth.Limits{})
	if err := s.Everything(account).Ensure(testContext(t)); err != nil {
		t.Fatal(err)
	}
	cfg := s.As(account, natsauth.Job, ofFetch())
	cfg.WithoutJetStream = true
	b, err := bus.Connect(testContext(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	const key = "token/x"
	for name, c := range map[string]struct {
		request func(context.Context) error
		subject string
	}{
		"Put": {func(ctx context.Context) error {
			_, err := b.Put(ctx, names.TokensBucket, key, 1)
			return err
		}, "$KV.koldun_tokens.token/x"},
		"PutUnacknowledged": {func(ctx context.Context) error {
			_, err := b.Put(ctx, names.ProgressBucket, "team/other/fetch", 1)
			return err
		}, "$KV.koldun_progress.team/other/fetch"},
		"Delete": {func(ctx context.Context) error {
			return b.Delete(ctx, names.TokensBucket, key, 0)
		}, "$KV.koldun_tokens.token/x"},
		"Create": {func(ctx context.Context) error {
			_, err := b.Create(ctx, names.TokensBucket, key, 1, 0)
			return err
		}, "$JS.API.STREAM.INFO.KV_koldun_tokens"},
		"Get": {func(ctx context.Context) error {
			_, _, err := b.GetBytes(ctx, names.TokensBucket, key)
			return err
		}, "$JS.API.DIRECT.GET.KV_koldun_tokens.$KV.koldun_tokens.token/x"},
		"Stream": {func(ctx context.Context) error {
			_, err := b.Stream(ctx, names.RequestStream)
			return err
		}, "$JS.API.STREAM.INFO.KOLDUN_REQUESTS"},
		"Call": {func(ctx context.Context) error {
			_, err := bus.Call[int](ctx, b, "koldun.v1.end.s.t.r", 1)
			return err
		}, "koldun.v1.end.s.t.r"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.request(testContext(t))
			if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), `Publish to "`+c.subject+`"`) {
				t.Errorf("got %v of kind %s, want Denied for %q", err, fault.KindOf(err), c.subject)
			}
		})
	}
}

// TestMissingRightToConnect checks that a user that may not ask JetStream anything gets to
// know why it waits.
func TestMissingRightToConnect(t *testing.T) {
	s := natstest.StartOperator(t)
	cfg := s.As(s.Account("team", natsauth.Limits{}), natsauth.Job, ofFetch())
	told := make(lines, 100)
	cfg.Logger = slog.New(slog.NewTextHandler(told, nil))
	ctx, cancel := context.WithCancel(testContext(t))
	ended := make(chan error, 1)
	go func() {
		b, err := bus.Connect(ctx, cfg)
		if err == nil {
			b.Close()
		}
		ended <- err
	}()
	for line := ""; !strings.Contains(line, "cannot connect to NATS yet"); {
		line = waittest.Receive(t, "a line of the log", told)
	}
	cancel()
	err := waittest.Receive(t, "Connect ends", ended)
	if err == nil || !strings.Contains(err.Error(), `Publish to "$JS.API.INFO"`) {
		t.Errorf("Connect: %v, want the missing right", err)
	}
}
