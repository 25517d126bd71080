package fetch

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
)

// The interval of reports, and the number of them that a rate covers.
const (
	reportEvery = 500 * time.Millisecond
	rateWindow  = 20
)

// A meter counts bytes and reports them, from one goroutine at a time.
type meter struct {
	f     progress.Func
	total atomic.Int64
	bytes atomic.Int64
	item  atomic.Pointer[string]
	waits waits

	stop chan struct{}
	done chan struct{}
	once sync.Once

	most int64   // reported; the count decreases when a file is read again
	past []int64 // counts at the last reports
}

// startMeter reports to f until end is called. f may be nil.
func startMeter(f progress.Func) *meter {
	m := &meter{f: f, stop: make(chan struct{}), done: make(chan struct{})}
	if f == nil {
		close(m.done)
		return m
	}
	go m.run()
	return m
}

func (m *meter) run() {
	defer close(m.done)
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-m.stop:
			return
		case <-tick.C:
			m.f(m.report(progress.Running))
		}
	}
}

func (m *meter) report(phase progress.Phase) progress.Report {
	sum := m.total.Load()
	m.most = max(m.most, min(m.bytes.Load(), sum))
	r := progress.Report{Stage: "fetch", Phase: phase, Bytes: m.most, Total: sum}
	if item := m.item.Load(); item != nil {
		r.Item = *item
	}
	if phase == progress.Running {
		r.Message = m.waits.message()
	}
	if n := len(m.past); n > 0 {
		r.BytesPerSecond = (m.most - m.past[0]) * int64(time.Second/reportEvery) / int64(n)
	}
	m.past = append(m.past, m.most)
	if len(m.past) > rateWindow {
		m.past = m.past[1:]
	}
	return r
}

// end stops the reports with a last one, Done or Failed.
func (m *meter) end(err error) {
	m.once.Do(func() {
		close(m.stop)
		<-m.done
		if m.f == nil {
			return
		}
		if err == nil {
			m.bytes.Store(m.total.Load())
			r := m.report(progress.Done)
			r.Item = ""
			m.f(r)
			return
		}
		r := m.report(progress.Failed)
		r.Message, r.Kind = err.Error(), string(fault.KindOf(err))
		m.f(r)
	})
}

// A tally counts the bytes of one file, so that they can be subtracted when the
// file starts again.
type tally struct {
	m *meter
	n atomic.Int64
}

func (m *meter) begin(path string) *tally {
	m.item.Store(&path)
	return &tally{m: m}
}

func (t *tally) add(n int64) {
	t.n.Add(n)
	t.m.bytes.Add(n)
}

func (t *tally) reset() { t.m.bytes.Add(-t.n.Swap(0)) }
