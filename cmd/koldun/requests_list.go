package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// RequestsListCmd lists requests.
type RequestsListCmd struct {
	State  string        `default:"ended" enum:"ended,completed,failed,cancelled,expired,dead,open" help:"Which requests to list: ${enum}. dead are dead letters, open requests have not ended."`
	Model  string        `help:"List only requests for this model in its shared pool: NAMESPACE/NAME."`
	Tenant string        `help:"List only requests of this tenant."`
	Since  time.Duration `default:"24h" help:"List only requests that ended within this time."`
	Limit  int           `default:"50" help:"Number of requests to list, the newest ones."`
	JSON   bool          `help:"Print JSON, one object a line."`
}

// A row is one request of a list.
type row struct {
	tenant string
	value  any      // as JSON
	cells  []string // as a table
}

// Run prints, oldest first.
func (c *RequestsListCmd) Run(ctx context.Context, all *RequestsCmd, log *slog.Logger) error {
	session := "*"
	if c.Model != "" {
		namespace, name, ok := strings.Cut(c.Model, "/")
		if !ok {
			return fault.Errorf(fault.Invalid, "cannot list requests of model %q: it is not NAMESPACE/NAME", c.Model)
		}
		session = names.Session(namespace, name, "")
	}
	if c.Limit < 1 {
		return fault.Errorf(fault.Invalid, "cannot list %d requests: the least is 1", c.Limit)
	}
	b, err := all.open(ctx, log)
	if err != nil {
		return err
	}
	defer b.Close()
	q := queue.New(b)
	var rows []row
	add := func(r row) bool {
		if c.Tenant == "" || c.Tenant == r.tenant {
			rows = append(rows, r)
			rows = rows[max(0, len(rows)-c.Limit):]
		}
		return true
	}
	header, err := c.read(ctx, q, session, add)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			err = fmt.Errorf("%w (a dispatcher makes it when it starts)", err)
			if all.embedded() {
				err = fmt.Errorf("%w; this is the embedded NATS of koldun up: if the claims name another, set %s to it", err, names.EnvNATSURL)
			}
		}
		return fmt.Errorf("cannot list requests: %w", err)
	}
	if c.JSON {
		for _, r := range rows {
			if err := printLine(os.Stdout, r.value); err != nil {
				return err
			}
		}
		return nil
	}
	if len(rows) == 0 && all.embedded() {
		fmt.Fprintf(os.Stderr, "no requests on the embedded NATS of koldun up; if the claims name another, set %s to it\n", names.EnvNATSURL)
		return nil
	}
	return printTable(os.Stdout, header, rows)
}

func (c *RequestsListCmd) read(ctx context.Context, q *queue.Queue, session string, add func(row) bool) (header string, err error) {
	since := time.Now().Add(-c.Since)
	switch c.State {
	case "open":
		return "ID\tPOOL\tTENANT\tAGE", q.OpenRequests(ctx, session, func(o queue.OpenRequest) bool { return add(openRow(o, time.Now())) })
	case "dead":
		return "ID\tMODEL\tTENANT\tATTEMPTS\tFAILED\tREASONS", q.DeadLetters(ctx, session, since, func(d queue.DeadLetter) bool { return add(deadRow(d)) })
	}
	return "ID\tSTATE\tMODEL\tTENANT\tATTEMPTS\tQUEUED\tFIRST\tTOTAL\tTOKENS\tENDED\tREASON", q.Outcomes(ctx, session, since, func(o queue.Outcome) bool {
		if c.State != "ended" && c.State != string(o.State) {
			return true
		}
		return add(outcomeRow(o))
	})
}

func openRow(o queue.OpenRequest, now time.Time) row {
	return row{o.Tenant, o, []string{o.ID, o.Session, o.Tenant, now.Sub(o.Stored).Round(time.Second).String()}}
}

func deadRow(d queue.DeadLetter) row {
	type line struct { // without the prompt
		queue.Ref
		Model    string    `json:"model"`
		Attempts int       `json:"attempts"`
		Failed   time.Time `json:"failed"`
		Reasons  []string  `json:"reasons"`
	}
	r := d.Request
	return row{r.Tenant, line{r.Ref(), r.Model, d.Attempts, d.Failed, d.Reasons}, []string{
		r.ID, r.Model, r.Tenant, fmt.Sprint(d.Attempts), d.Failed.Format(time.RFC3339), strings.Join(d.Reasons, "; "),
	}}
}

func outcomeRow(o queue.Outcome) row {
	reason := ""
	if o.Error != nil {
		reason = o.Error.Code + ": " + o.Error.Message
	}
	return row{o.Tenant, o, []string{
		o.Request, string(o.State), o.Model, o.Tenant, fmt.Sprint(o.Attempts),
		since(o.Created, o.Started), since(o.Started, o.First), since(o.Created, o.Ended),
		fmt.Sprintf("%d/%d", o.Usage.PromptTokens, o.Usage.CompletionTokens),
		o.Ended.Format(time.RFC3339), reason,
	}}
}

// since shows the time between two moments of which either may not have come.
func since(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return "-"
	}
	return to.Sub(from).Round(time.Millisecond).String()
}

func printTable(w io.Writer, header string, rows []row) error {
	if len(rows) == 0 {
		fmt.Fprintln(os.Stderr, "no requests")
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, header)
	for _, r := range rows {
		_, _ = fmt.Fprintln(t, strings.Join(r.cells, "\t"))
	}
	return t.Flush()
}
