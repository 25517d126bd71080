package bus

import (
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
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
