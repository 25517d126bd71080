package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/gorizond/koldun/cmd/koldun/up"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// defaultData is the default data directory of koldun up.
const defaultData = ".koldun"

// RequestsCmd looks into the queue. It connects to NATS as the environment
// says, or to that of a koldun up.
type RequestsCmd struct {
	Data string `type:"path" placeholder:"DIR" help:"Data folder of the koldun up to connect to. Default: NATS_URL or, without it, the koldun up that runs in the current folder."`

	List   RequestsListCmd   `cmd:"" help:"List terminal records, open requests or dead letters."`
	Show   RequestsShowCmd   `cmd:"" help:"Show one request."`
	Replay RequestsReplayCmd `cmd:"" help:"Queue a dead letter again and print its answer."`
	Cancel RequestsCancelCmd `cmd:"" help:"Cancel a request that has not ended."`
}

// lookTimeout is the time after which an unreachable NATS is an error.
const lookTimeout = 10 * time.Second

// find connects to the queue for a request. done closes the connection.
func (c *RequestsCmd) find(ctx context.Context, id string, log *slog.Logger) (q *queue.Queue, done func(), err error) {
	if err := checkID(id); err != nil {
		return nil, nil, err
	}
	b, err := c.open(ctx, log)
	if err != nil {
		return nil, nil, err
	}
	return queue.New(b), b.Close, nil
}

// embedded reports whether the queue is that on the embedded NATS of a koldun up.
func (c *RequestsCmd) embedded() bool { return c.Data != "" || os.Getenv(names.EnvNATSURL) == "" }

// open connects for a look into the queue.
func (c *RequestsCmd) open(ctx context.Context, log *slog.Logger) (*bus.Bus, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if !c.embedded() {
		return connectBus(ctx, "requests", 0, log)
	}
	cfg, err := up.Connection(ctx, cmp.Or(c.Data, defaultData))
	if c.Data == "" && fault.Is(err, fault.NotFound) {
		return nil, fmt.Errorf("cannot look into the queue: %w; name another data folder with --data, or set %s to nats://HOST:PORT", err, names.EnvNATSURL)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot look into the queue: %w", err)
	}
	cfg.Name, cfg.Logger = "koldun requests", log
	return bus.Connect(ctx, cfg)
}

// checkID refuses what cannot be the id of a request. Errors: Invalid.
func checkID(id string) error {
	if !bus.IsToken(id) {
		return fault.Errorf(fault.Invalid, "cannot look up request %q: that is no id of a request", id)
	}
	return nil
}

// RequestsShowCmd shows what is known of a request.
type RequestsShowCmd struct {
	ID   string `arg:"" help:"Id of the request, as in x-request-id and logs."`
	Body bool   `help:"Also print the body of the request, with its prompt. Only dead letters have one."`
}

// A shownRequest is what is known of a request.
type shownRequest struct {
	Open       *queue.OpenRequest `json:"open,omitempty"`
	Outcome    *queue.Outcome     `json:"outcome,omitempty"`
	DeadLetter *shownLetter       `json:"deadLetter,omitempty"`
	Body       json.RawMessage    `json:"body,omitempty"`
}

// A shownLetter is a dead letter without its prompt.
type shownLetter struct {
	Reasons  []string  `json:"reasons"`
	Attempts int       `json:"attempts"`
	Failed   time.Time `json:"failed"`
	Bytes    int       `json:"bodyBytes"`
}

// Run prints JSON.
func (c *RequestsShowCmd) Run(ctx context.Context, all *RequestsCmd, log *slog.Logger) error {
	q, done, err := all.find(ctx, c.ID, log)
	if err != nil {
		return err
	}
	defer done()
	var shown shownRequest
	if open, err := q.FindOpen(ctx, c.ID); err == nil {
		shown.Open = &open
	} else if !fault.Is(err, fault.NotFound) {
		return err
	}
	if o, err := q.FindOutcome(ctx, c.ID); err == nil {
		shown.Outcome = &o
	} else if !fault.Is(err, fault.NotFound) {
		return err
	}
	if d, _, err := q.DeadLetter(ctx, c.ID); err == nil {
		shown.DeadLetter = &shownLetter{Reasons: d.Reasons, Attempts: d.Attempts, Failed: d.Failed, Bytes: len(d.Request.Body)}
		if c.Body {
			shown.Body = d.Request.Body
		}
	} else if !fault.Is(err, fault.NotFound) {
		return err
	}
	if shown.Open == nil && shown.Outcome == nil && shown.DeadLetter == nil {
		return unknownRequest("show", c.ID)
	}
	return printJSON(os.Stdout, shown)
}

// RequestsCancelCmd cancels a request.
type RequestsCancelCmd struct {
	ID string `arg:"" help:"Id of the request."`
}

// Run returns when the dispatcher or the runner has taken note.
func (c *RequestsCancelCmd) Run(ctx context.Context, all *RequestsCmd, log *slog.Logger) error {
	q, done, err := all.find(ctx, c.ID, log)
	if err != nil {
		return err
	}
	defer done()
	open, err := q.FindOpen(ctx, c.ID)
	if fault.Is(err, fault.NotFound) {
		o, endErr := q.FindOutcome(ctx, c.ID)
		switch {
		case endErr == nil:
			return fault.Errorf(fault.Conflict, "cannot cancel request %q: it has ended (%s)", c.ID, o.State)
		case fault.Is(endErr, fault.NotFound):
			return unknownRequest("cancel", c.ID)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot cancel request %q: %w", c.ID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if err := q.Cancel(ctx, open.Ref, "operator"); err != nil {
		return fmt.Errorf("%w (does a dispatcher run?)", err)
	}
	fmt.Fprintln(os.Stderr, "cancelled", c.ID)
	return nil
}

func unknownRequest(verb, id string) error {
	return fault.Errorf(fault.NotFound, "cannot %s request %q: it is neither waiting nor among those that ended in the last %s", verb, id, names.OutcomeMaxAge)
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
