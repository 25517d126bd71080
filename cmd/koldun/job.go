package main

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/network/httpserver"
)

// JobFlags are the flags of commands that run as Jobs.
type JobFlags struct {
	Deadline      time.Duration `default:"0" help:"Stop after this time; 0 is never. The next run continues where this one stopped."`
	MetricsListen string        `default:"" help:"Address to serve /metrics, /progress and /healthz on; empty serves none."`
	AllowedHost   []string      `name:"allowed-host" env:"KOLDUN_ALLOWED_HOSTS" placeholder:"NAME" help:"Host name that requests may name beside IP addresses. May be repeated; none is localhost and the names of Services and pods."`
	ProgressKey   string        `hidden:"" help:"Key of the record to report progress to."`
}

// errDeadline is the cause when --deadline ends the work.
var errDeadline = fault.Errorf(fault.Transient, "the deadline has passed")

// do runs work with a reporter, a deadline and metrics. stage is "fetch" or
// "convert".
func (f JobFlags) do(ctx context.Context, stage string, log *slog.Logger, work func(context.Context, progress.Func) (progress.Report, error)) error {
	_, err := f.report(ctx, stage, log, work)
	return err
}

// report is do. It also returns why the report of work that is done was not written: the
// work may have no other result.
func (f JobFlags) report(ctx context.Context, stage string, log *slog.Logger, work func(context.Context, progress.Func) (progress.Report, error)) (lost, err error) {
	reports, err := newReporter(ctx, f.ProgressKey, log)
	if err != nil {
		return nil, err
	}
	if f.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.Deadline, errDeadline)
		defer cancel()
	}
	stop, err := f.metrics(ctx, stage, reports, log)
	if err != nil {
		_ = reports.End(stage, nil, err)
		return nil, err
	}
	defer stop()
	result, err := work(ctx, reports.Report)
	if err != nil && context.Cause(ctx) == errDeadline { //nolint:errorlint // this very cause
		err = fault.Errorf(fault.Transient, "cannot %s within %s: %w", stage, f.Deadline, errDeadline)
	}
	return reports.End(stage, result.Shape, err), err
}

// metrics serves the latest report until stop is called.
func (f JobFlags) metrics(ctx context.Context, stage string, r *reporter, log *slog.Logger) (stop func(), err error) {
	if f.MetricsListen == "" {
		return func() {}, nil
	}
	l, err := httpserver.Listen(ctx, listenAddress(f.MetricsListen))
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	labels := prometheus.Labels{"stage": stage}
	gauge := func(name, help string, value func(progress.Report) int64) {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "koldun", Subsystem: "job", Name: name, Help: help, ConstLabels: labels},
			func() float64 { return float64(value(r.newest())) }))
	}
	gauge("done_bytes", "Bytes done.", func(p progress.Report) int64 { return p.Bytes })
	gauge("total_bytes", "Bytes in all; 0 while not known.", func(p progress.Report) int64 { return p.Total })
	gauge("rate_bytes_per_second", "Bytes per second over the last seconds.", func(p progress.Report) int64 { return p.BytesPerSecond })
	gauge("eta_seconds", "Time that the rest may take; 0 while not known.", func(p progress.Report) int64 { return int64(p.ETA() / time.Second) })
	mux := http.NewServeMux()
	mux.Handle("/", httpserver.Health(registry))
	mux.Handle("GET "+progress.Path, progress.Handler(func() (progress.Summary, bool) { return r.newest().Summary() }))
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := httpserver.Serve(ctx, l, mux, httpserver.Options{Name: "metrics", Hosts: f.AllowedHost, Grace: time.Second, Logger: log}); err != nil {
			log.Warn("cannot serve metrics", "error", err)
		}
	}()
	return func() { cancel(); <-done }, nil
}
