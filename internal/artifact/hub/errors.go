package hub

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

const levelRetry = slog.LevelWarn

func attrs(try int, pause time.Duration, err error) []slog.Attr {
	return []slog.Attr{slog.Int("try", try), slog.String("pause", pause.String()), slog.String("error", err.Error())}
}

// answerError returns the error for an answer of 400 or above. X-Error-Code says
// more than the status: the hub also answers 401 for repositories that do not
// exist, and 404 has three meanings.
func (c *Client) answerError(resp *http.Response) error {
	code := resp.Header.Get("X-Error-Code")
	host := resp.Request.URL.Host
	status := resp.StatusCode
	switch code {
	case "GatedRepo":
		return fault.Errorf(fault.Denied, "the repository is gated: accept its licence on %s and give the token of that account%s", c.base.Host, c.tokenHint())
	case "DisabledRepo":
		return fault.Errorf(fault.Denied, "the repository is disabled on %s", c.base.Host)
	case "RepoNotFound":
		return fault.Errorf(fault.NotFound, "%s has no such repository, or it is private: check its name%s", c.base.Host, c.tokenHint())
	case "RevisionNotFound":
		return fault.Errorf(fault.NotFound, "the repository has no such branch, tag or commit")
	case "EntryNotFound":
		return fault.Errorf(fault.NotFound, "the repository has no such file at this revision")
	}
	text := fmt.Sprintf("%s answers HTTP %d%s", host, status, hubMessage(resp))
	switch {
	case (status == http.StatusUnauthorized || status == http.StatusForbidden) && host != c.base.Host:
		// The hub decides who may read; its storage refuses expired addresses.
		return fault.Errorf(fault.Transient, "%s: the storage refuses the address from the hub", text)
	case status == http.StatusUnauthorized:
		return fault.Errorf(fault.Denied, "%s: the hub wants a valid token%s", text, c.tokenHint())
	case status == http.StatusForbidden:
		return fault.Errorf(fault.Denied, "%s: access is refused; for a gated repository accept its licence on %s%s", text, c.base.Host, c.tokenHint())
	case status == http.StatusNotFound, status == http.StatusGone:
		return fault.Errorf(fault.NotFound, "%s", text)
	case status == http.StatusTooManyRequests:
		return fault.Errorf(fault.Transient, "%s: too many requests%s", text, c.limitHint())
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500:
		return fault.Errorf(fault.Transient, "%s", text)
	}
	return fault.Errorf(fault.Invalid, "%s", text)
}

func (c *Client) tokenHint() string {
	if c.withheld {
		return " (" + names.EnvHFToken + " is for " + strings.Join(c.cfg.TokenFor, " and ") + ", so it is not sent to " + c.cfg.Endpoint + ")"
	}
	if c.cfg.Token == "" {
		return " (no token is given: set " + names.EnvHFToken + ", in a cluster through a Secret)"
	}
	return " (a token is given)"
}

func (c *Client) limitHint() string {
	if c.cfg.Token == "" {
		return "; with a token the hub allows more"
	}
	return ""
}

// hubMessage returns the hub's message from a header, safe for a log line.
func hubMessage(resp *http.Response) string {
	msg := resp.Header.Get("X-Error-Message")
	if msg == "" {
		return ""
	}
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, msg)
	const most = 300
	if len(clean) > most {
		clean = strings.ToValidUTF8(clean[:most], "") + "..."
	}
	return " (" + clean + ")"
}
