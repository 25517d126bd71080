package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/backoff"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/network/linklocal"
)

// A Config describes a connection to NATS. At most one of User, Token, NKeySeed,
// Creds and CredsFile is needed. Keys and certificates are texts, never paths,
// except for CredsFile.
type Config struct {
	URL       string // "nats://host:port", several separated by commas
	User      string
	Password  string
	Token     string
	NKeySeed  string // begins with "SU"
	Creds     string // content of a NATS credentials file (JWT and seed)
	CredsFile string // path of a credentials file, read at each reconnect
	// InboxPrefix is the prefix of the subjects of answers to this client. Empty:
	// "_INBOX", or that of the user if its credentials have the rights of a role.
	InboxPrefix string
	CA          string // PEM, trusted instead of the system's authorities
	Cert, Key   string // PEM, of this client
	Name        string // name of this client in the server's monitoring
	// Patience is how long the server may refuse the credentials before that is
	// an error, because they may be in rotation. Other failures are retried
	// forever.
	Patience time.Duration
	// WithoutJetStream is for users that may not ask JetStream anything: those of a system
	// account, runners and Jobs.
	WithoutJetStream bool
	Logger           *slog.Logger
}

const (
	minBackoff  = 100 * time.Millisecond
	maxBackoff  = 2 * time.Second
	dialTimeout = 5 * time.Second
	// hostTimeout limits one address of a server, because the next may answer.
	hostTimeout  = 2 * time.Second
	pingInterval = 10 * time.Second
	closeFlush   = time.Second
	flushTimeout = 5 * time.Second
	// apiTimeout limits each request to the server, because its answer is lost
	// with the connection.
	apiTimeout   = 5 * time.Second
	pendingBytes = 16 << 20 // held while reconnecting
)

// Connect blocks until a server of version 2.11 or newer with JetStream answers.
// It retries with growing pauses until ctx ends. Then the connection reconnects
// automatically. Errors: Invalid (URL), NotFound (credentials file), Unsupported
// (server too old or without JetStream), Denied (credentials refused for
// Config.Patience); when ctx ends, the kind of the last cause.
func Connect(ctx context.Context, cfg Config) (*Bus, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	shown, err := redact(cfg.URL)
	if err != nil {
		return nil, err
	}
	b := &Bus{
		log:      cfg.Logger,
		shown:    shown,
		patience: newPatience(cfg.Patience),
		stop:     func() {},
		renewed:  make(chan struct{}),
		buckets:  map[string]jetstream.KeyValue{},
		streams:  map[string]jetstream.Stream{},
	}
	from, err := cfg.source()
	if err != nil {
		return nil, err
	}
	var last error
	for attempt := 0; ; attempt++ {
		err := b.dial(ctx, cfg, from)
		if ctx.Err() != nil && last != nil && errors.Is(err, ctx.Err()) {
			err = last // ctx cut this attempt short
		}
		if last = err; err == nil {
			cfg.Logger.Debug("connected to NATS", "url", shown)
			if from != nil && from.file != "" {
				b.stop = beside(func(ctx context.Context) { b.follow(ctx, from) })
			}
			return b, nil
		}
		if fault.Is(err, fault.Unsupported) || fault.Is(err, fault.Invalid) {
			return nil, fmt.Errorf("cannot use NATS at %q: %w", shown, err)
		}
		first, over := false, false
		if isRefusal(err) {
			err = cfg.refused(err)
			first, over = b.patience.refused(err)
		}
		if over {
			return nil, fmt.Errorf("cannot connect to NATS at %q: %w", shown, err)
		}
		if first || attempt%20 == 0 {
			cfg.Logger.Warn("cannot connect to NATS yet", "url", shown, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, fault.Errorf(KindAtEnd(ctx, err), "cannot connect to NATS at %q: %w", shown, err)
		case <-time.After(Backoff(attempt)):
		}
	}
}

// dial makes one attempt.
func (b *Bus) dial(ctx context.Context, cfg Config, from *source) error {
	opts := []nats.Option{
		nats.Name(cfg.Name),
		nats.Timeout(dialTimeout),
		nats.SetCustomDialer(&net.Dialer{Timeout: hostTimeout, Control: linklocal.Refuse}),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // credentials may be rotated while we run
		nats.CustomReconnectDelay(Backoff),
		nats.ReconnectBufSize(pendingBytes),
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(2),
		nats.ReconnectHandler(func(*nats.Conn) {
			b.log.Info("reconnected to NATS")
			b.patience.accepted()
			b.announceReconnect()
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				b.log.Warn("lost the connection to NATS", "error", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			if isRefusal(err) {
				err = cfg.refused(err)
				if first, _ := b.patience.refused(err); first {
					b.log.Warn("NATS refuses the credentials", "url", b.shown, "error", err)
				}
				return
			}
			b.permits.reported(err)
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			level := faultLevel(err)
			if level == slog.LevelWarn {
				b.counts.violations.Add(1)
			}
			b.log.Log(ctx, level, "NATS reports a fault", "subject", subject, "error", err)
		}),
	}
	if from != nil {
		l, err := from.reset()
		if err != nil {
			return err
		}
		cfg.InboxPrefix = cfg.inbox(l)
		opts = append(opts, nats.UserJWT(from.token, from.sign))
	}
	if cfg.InboxPrefix != "" {
		opts = append(opts, nats.CustomInboxPrefix(cfg.InboxPrefix))
	}
	auth, err := cfg.auth()
	if err != nil {
		return err
	}
	nc, err := nats.Connect(cfg.URL, append(opts, auth...)...)
	if err != nil {
		return Kinded(err)
	}
	js, err := b.checkServer(ctx, nc, cfg.WithoutJetStream)
	if err != nil {
		nc.Close()
		return err
	}
	b.nc, b.js = nc, js
	b.patience.accepted()
	return nil
}

// beside runs f until the returned function is called, which waits for its end.
func beside(f func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	return func() { cancel(); <-done }
}

// checkServer checks that the server has JetStream with a TTL per key and markers
// for expired keys (NATS 2.11). Without JetStream it checks only its version.
func (b *Bus) checkServer(ctx context.Context, nc *nats.Conn, without bool) (jetstream.JetStream, error) {
	version := nc.ConnectedServerVersion()
	if !atLeast211(version) {
		return nil, fault.Errorf(fault.Unsupported, "the server is version %s, and Koldun needs 2.11 or newer", version)
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(dialTimeout))
	if err != nil || without {
		return js, fault.As(fault.Internal, err)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if _, err := permitted(ctx, &b.permits, "$JS.API.INFO", js.AccountInfo); err != nil {
		if errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
			return nil, fault.Errorf(fault.Unsupported, "the account has no JetStream: %w", err)
		}
		return nil, Kinded(err)
	}
	return js, nil
}

// atLeast211 reports whether a version "major.minor..." is at least 2.11. It
// accepts versions of other forms, which are development builds.
func atLeast211(version string) bool {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return true
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	if err1 != nil || err2 != nil {
		return true
	}
	return major > 2 || major == 2 && minor >= 11
}

// Address returns the URL without credentials, for messages, or "".
func (c Config) Address() string {
	shown, _ := redact(c.URL)
	return shown
}

// redact checks the URLs and returns them without credentials.
func redact(urls string) (string, error) {
	if strings.TrimSpace(urls) == "" {
		return "", fault.Errorf(fault.Invalid, "cannot connect to NATS: no URL given")
	}
	var shown []string
	for s := range strings.SplitSeq(urls, ",") {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil || !isHost(u) {
			// Omit err, whose text repeats the URL with its password.
			return "", fault.Errorf(fault.Invalid, "cannot connect to NATS: URL %d is not of the form nats://host:port", len(shown)+1)
		}
		shown = append(shown, u.Scheme+"://"+u.Host)
	}
	return strings.Join(shown, ","), nil
}

// isHost reports whether a URL has a host and no or a numeric port.
func isHost(u *url.URL) bool {
	host := u.Hostname()
	if host == "" {
		return false
	}
	if u.Port() != "" {
		_, err := strconv.ParseUint(u.Port(), 10, 16)
		return err == nil && u.Host == net.JoinHostPort(host, u.Port())
	}
	return u.Host == host || u.Host == "["+host+"]"
}

// Backoff returns the pause after failed attempt n, counted from 0. It grows to
// two seconds and has jitter, so that clients do not retry at the same time.
func Backoff(n int) time.Duration {
	return backoff.Policy{First: minBackoff, Most: maxBackoff}.After(n + 1)
}

// KindAtEnd returns the kind of the error when ctx has ended and err is the last
// error before.
func KindAtEnd(ctx context.Context, err error) fault.Kind {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fault.Interrupted
	}
	return fault.KindOf(err)
}
