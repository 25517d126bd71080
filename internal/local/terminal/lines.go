package terminal

import (
	"fmt"
	"time"

	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/model/progress"
)

// soon is the longest time between an event and another that it causes.
const soon = time.Second

// plainEvery is the interval of progress lines where bars cannot be drawn.
const plainEvery = 10 * time.Second

// lines records an event and returns the lines to print for it.
func (t *Terminal) lines(e local.Event) []string {
	switch e.Type {
	case local.Stopping:
		return t.line(e, t.note, dim, "stopping")
	case local.Stopped:
		return t.line(e, t.ok, green, "stopped; nothing is left running")
	}
	o := t.object(e)
	switch e.Type {
	case local.Added:
		if e.Owner == (local.Key{}) && e.Object.Group() == local.CompositeGroup {
			return t.line(e, t.note, cyan, t.name(o))
		}
	case local.Removed:
		t.forget(e.Object)
	case local.BecameReady:
		o.message = e.Message
		return append(t.arrived(e, o), t.becameReady(e, o)...)
	case local.BecameUnready:
		o.message = e.Message
		if o.workload() && e.Time.Sub(o.endedAt) > soon { // otherwise an earlier line gives the reason
			return t.line(e, t.bad, yellow, t.name(o)+" is not ready: "+e.Message)
		}
	case local.ConditionChanged:
		return t.condition(e, o)
	case local.ProgressMade:
		return t.progress(e, o)
	case local.ProcessStarted:
		id := process(e)
		if o.starts[id]++; o.starts[id] > 1 && o.workload() {
			return t.line(e, t.ok, green, "restarted "+id)
		}
	case local.ProcessEnded:
		if e.RestartIn > 0 {
			o.endedAt = e.Time
			return t.line(e, t.bad, red, fmt.Sprintf("%s %s; again in %s", process(e), e.Message, span(e.RestartIn)))
		}
	case local.JobEnded:
		if e.Failed {
			return t.line(e, t.bad, red, t.name(o)+": "+e.Message)
		}
		return t.line(e, t.ok, green, t.name(o)+" "+e.Message+t.took(e, o))
	case local.Listening:
		o.address = "http://" + e.Endpoint.Address
		return t.line(e, t.ok, green, t.name(o)+" listens on "+o.address)
	case local.NotRunHere:
		o.notRun = true
		return t.line(e, t.note, dim, t.name(o)+" is not run here: "+e.Message)
	case local.Problem:
		return t.line(e, t.bad, yellow, t.name(o)+": "+e.Message)
	}
	return nil
}

// process returns the name of a container, or of a pod that could not start.
func process(e local.Event) string {
	if e.Container == "" {
		return e.Pod
	}
	return e.Pod + "/" + e.Container
}

// line returns one line: time, severity and text.
func (t *Terminal) line(e local.Event, mark, color, text string) []string {
	when := fmt.Sprintf("%7s", span(e.Time.Sub(t.began)))
	return []string{t.paint(dim, when) + " " + t.paint(color, mark) + " " + text}
}

// arrived ends the progress bar of an object that is ready before the last
// progress report.
func (t *Terminal) arrived(e local.Event, o *object) []string {
	if o.progress.Phase != progress.Running {
		return nil
	}
	e.Progress = o.progress
	e.Progress.Phase, e.Progress.Bytes = progress.Done, o.progress.Total
	return t.progress(e, o)
}

// becameReady returns the lines for a ready object, with details the first time.
func (t *Terminal) becameReady(e local.Event, o *object) []string {
	again := o.wasReady
	o.wasReady = true
	switch root := o.owner == (local.Key{}); {
	case again && (root || o.workload()):
		return t.line(e, t.ok, green, t.name(o)+" is ready again")
	case root:
		lines := t.line(e, t.ok, green, t.paint(bold, t.name(o)+" is ready")+t.took(e, o))
		return append(lines, t.tree(o)...)
	case o.workload():
		return t.line(e, t.ok, green, t.name(o)+" is ready "+t.paint(dim, e.Message)+t.took(e, o))
	}
	return nil
}

// condition returns the lines for a completed stage or a new reason of Serving;
// a change of the message alone prints nothing.
func (t *Terminal) condition(e local.Event, o *object) []string {
	c := e.Condition
	old := o.conditions[c.Type]
	o.conditions[c.Type] = c
	if old.Status == c.Status && (old.Reason == c.Reason || c.Type != local.Serving) {
		return nil
	}
	text := t.name(o) + " " + t.paint(cyan, c.Reason)
	if c.Message != "" {
		text += ": " + c.Message
	}
	switch {
	case c.Type == local.Synced:
		return t.line(e, t.bad, red, text)
	case c.Status == local.True:
		return t.line(e, t.ok, green, text)
	case c.Type == local.Serving:
		return t.line(e, t.note, dim, text)
	}
	return nil // a stage that is not done yet; Serving says so, too
}

func (t *Terminal) progress(e local.Event, o *object) []string {
	p := e.Progress
	told, at := o.progress, o.progressAt
	o.progress = p
	switch p.Phase {
	case progress.Done:
		t.screen.drop(o.key)
		if told.Phase == "" || p.Stage == "" {
			return nil // it was done before
		}
		return t.line(e, t.ok, green, p.Stage+" "+bytesize.Format(p.Bytes))
	case progress.Failed:
		t.screen.drop(o.key)
		return t.line(e, t.bad, red, p.Stage+": "+p.Message)
	case progress.Running:
	default:
		return nil
	}
	if t.screen.live {
		t.screen.set(o.key, func(columns int) string { return t.picture(p, columns) })
		return nil
	}
	if e.Time.Sub(at) < plainEvery {
		return nil
	}
	o.progressAt = e.Time
	return t.line(e, t.note, dim, p.Stage+" "+amount(p))
}

// picture returns a progress bar with its numbers and the current item.
func (t *Terminal) picture(p progress.Report, columns int) string {
	width := 30
	if columns > 0 {
		width = min(30, max(5, columns/4))
	}
	return fmt.Sprintf("%9s %s %s  %s", p.Stage, t.bar(p.Percent(), width), amount(p), t.paint(dim, p.Item))
}

// amount returns the progress in bytes, the rate and the estimated time left.
func amount(p progress.Report) string {
	text := bytesize.Format(p.Bytes)
	if p.Total > 0 {
		text = fmt.Sprintf("%3d%%  %s of %s", p.Percent(), bytesize.Format(p.Bytes), bytesize.Format(p.Total))
	}
	if p.BytesPerSecond > 0 {
		text += "  " + bytesize.Format(p.BytesPerSecond) + "/s"
		if left := p.Total - p.Bytes; left > 0 {
			text += "  " + span(time.Duration(left/p.BytesPerSecond)*time.Second) + " left"
		}
	}
	return text
}

// took returns the time since the object was added.
func (t *Terminal) took(e local.Event, o *object) string {
	return t.paint(dim, " after "+span(e.Time.Sub(o.added)))
}
