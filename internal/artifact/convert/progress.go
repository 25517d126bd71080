package convert

import (
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
)

// window is the time over which the rate is measured.
const window = 5 * time.Second

// A reporter makes reports from counts of finished bytes.
type reporter struct {
	mu      sync.Mutex
	send    progress.Func
	report  progress.Report
	samples []sample // within the window, oldest first
}

type sample struct {
	at    time.Time
	bytes int64
}

func newReporter(send progress.Func) *reporter {
	return &reporter{send: send, report: progress.Report{Stage: "convert", Phase: progress.Running}}
}

// expect adds to the total.
func (r *reporter) expect(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Total += n
}

// found counts bytes that an earlier process wrote.
func (r *reporter) found(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Bytes += n
	r.emit()
}

// wrote counts bytes of an item.
func (r *reporter) wrote(item string, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.report.Item = item
	r.report.Bytes += n
	r.samples = append(r.samples, sample{now, n})
	for len(r.samples) > 1 && now.Sub(r.samples[0].at) > window {
		r.samples = r.samples[1:]
	}
	var sum int64
	for _, s := range r.samples[1:] {
		sum += s.bytes
	}
	if d := now.Sub(r.samples[0].at).Seconds(); d > 0 {
		r.report.BytesPerSecond = int64(float64(sum) / d)
	}
	r.emit()
}

func (r *reporter) done(total int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report = progress.Report{Stage: r.report.Stage, Phase: progress.Done, Bytes: total, Total: total}
	r.emit()
}

func (r *reporter) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Phase = progress.Failed
	r.report.BytesPerSecond = 0
	r.report.Message, r.report.Kind = err.Error(), string(fault.KindOf(err))
	r.emit()
}

func (r *reporter) emit() {
	if r.send != nil {
		r.send(r.report)
	}
}
