package bus

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/network/linklocal"
)

// dial makes one attempt.
func (c *connection) dial(ctx context.Context, cfg Config, from *source) error {
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
			c.log.Info("reconnected to NATS")
			c.patience.accepted()
			c.announceReconnect()
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				c.log.Warn("lost the connection to NATS", "error", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			if isRefusal(err) {
				err = cfg.refused(err)
				if first, _ := c.patience.refused(err); first {
					c.log.Warn("NATS refuses the credentials", "url", c.shown, "error", err)
				}
				return
			}
			c.permits.reported(err)
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			level := faultLevel(err)
			if level == slog.LevelWarn {
				c.counts.violations.Add(1)
			}
			c.log.Log(ctx, level, "NATS reports a fault", "subject", subject, "error", err)
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
	js, err := c.checkServer(ctx, nc, cfg.WithoutJetStream)
	if err != nil {
		nc.Close()
		return err
	}
	c.nc, c.js = nc, js
	c.patience.accepted()
	return nil
}

// checkServer checks that the server has JetStream with a TTL per key and markers
// for expired keys (NATS 2.11). Without JetStream it checks only its version.
func (c *connection) checkServer(ctx context.Context, nc *nats.Conn, without bool) (jetstream.JetStream, error) {
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
	if _, err := permitted(ctx, &c.permits, "$JS.API.INFO", js.AccountInfo); err != nil {
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
