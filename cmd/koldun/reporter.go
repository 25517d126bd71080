package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// reportEvery is the interval at which a Job writes its record.
const reportEvery = 500 * time.Millisecond

// A reporter writes the reports of one Job: to its record if it has a key, else to
// the terminal or the log. It writes only the latest report, from one goroutine that
// runs until End.
type reporter struct {
	write func(progress.Report) error

	mu     sync.Mutex
	latest progress.Report
	fresh  bool

	stop chan struct{}
	done chan struct{}
	lost error // why the last report was not written; read it after done
}

// newReporter starts a reporter. Without a key it writes for people.
func newReporter(ctx context.Context, key string, log *slog.Logger) (*reporter, error) {
	r := &reporter{stop: make(chan struct{}), done: make(chan struct{})}
	switch {
	case key != "":
		b, err := connectBus(ctx, "job", rotation, log)
		if fault.Is(err, fault.Denied) {
			err = fault.As(fault.Transient, err) // the next pod of the Job gets the current Secret
		}
		if err != nil {
			return nil, err
		}
		r.write = both(record(b, key, log), lines(log))
		go r.run(reportEvery, b.Close)
		return r, nil
	case term.IsTerminal(int(os.Stderr.Fd())):
		r.write = bar(os.Stderr)
	default:
		r.write = lines(log)
	}
	go r.run(2*reportEvery, func() {})
	return r, nil
}

// newest returns the latest report.
func (r *reporter) newest() progress.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latest
}

// Report is a progress.Func.
func (r *reporter) Report(p progress.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latest, r.fresh = p, true
}

// End reports the result of the work, with the model's shape if it is known, and
// stops the reporter. It returns why that report was not written.
func (r *reporter) End(stage string, shape *topology.Shape, err error) (lost error) {
	r.mu.Lock()
	r.latest.Stage, r.latest.Shape = stage, shape
	r.latest.Phase = progress.Done
	if err != nil {
		r.latest.Phase, r.latest.Message, r.latest.Kind = progress.Failed, err.Error(), string(fault.KindOf(err))
	}
	r.fresh = true
	r.mu.Unlock()
	close(r.stop)
	<-r.done
	return r.lost
}

func (r *reporter) run(every time.Duration, closeAll func()) {
	defer close(r.done)
	defer closeAll()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			r.lost = r.flush()
			return
		case <-tick.C:
			_ = r.flush() // the next report follows
		}
	}
}

func (r *reporter) flush() error {
	r.mu.Lock()
	p, fresh := r.latest, r.fresh
	r.fresh = false
	r.mu.Unlock()
	if !fresh {
		return nil
	}
	return r.write(p)
}

// record writes reports to the registry. It does not retry: the next report follows.
func record(b *bus.Bus, key string, log *slog.Logger) func(progress.Report) error {
	table := registry.Progress(b)
	return func(p progress.Report) error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_, err := table.Put(ctx, key, p)
		if err != nil {
			log.Warn("cannot report progress", "key", key, "error", err)
		}
		return err
	}
}

func both(a, b func(progress.Report) error) func(progress.Report) error {
	return func(p progress.Report) error { return errors.Join(a(p), b(p)) }
}

// logEvery is the interval at which a running Job logs its progress.
const logEvery = 10 * time.Second

// lines writes reports to the log, at most one per logEvery while the work runs.
func lines(log *slog.Logger) func(progress.Report) error {
	var last time.Time
	return func(p progress.Report) error {
		if p.Phase == progress.Running && time.Since(last) < logEvery {
			return nil
		}
		last = time.Now()
		log.Info("progress", "stage", p.Stage, "phase", p.Phase, "item", p.Item, "bytes", p.Bytes, "total", p.Total,
			"percent", p.Percent(), "bytes-per-second", p.BytesPerSecond, "eta", p.ETA().Round(time.Second).String())
		return nil
	}
}

// bar draws one line; the next one overwrites it.
func bar(w io.Writer) func(progress.Report) error {
	return func(p progress.Report) error {
		text := fmt.Sprintf("%s %3d%%  %s of %s", p.Stage, p.Percent(), bytesize.Format(p.Bytes), bytesize.Format(p.Total))
		if p.Phase == progress.Running && p.BytesPerSecond > 0 {
			text += fmt.Sprintf(", %s/s, %s left", bytesize.Format(p.BytesPerSecond), p.ETA().Round(time.Second))
		}
		if p.Item != "" {
			text += "  " + p.Item
		}
		if p.Phase != progress.Running {
			text += "\n"
		}
		_, err := fmt.Fprint(w, "\r\033[K"+text)
		return err
	}
}
