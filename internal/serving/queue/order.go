package queue

// A frameOrder selects the frames of one generation, in order.
type frameOrder struct {
	epoch   uint64 // with attempt: the newest attempt seen
	attempt int
	next    int  // the next Seq of the attempt
	text    bool // whether a piece of the attempt was delivered
	ended   bool
}

type verdict int

const (
	deliver verdict = iota
	drop            // old, repeated or late
	gap             // frames before it are missing
)

// take returns the verdict on a frame, and the frame to deliver, which may differ
// from it.
func (o *frameOrder) take(f Frame) (Frame, verdict) {
	if o.ended {
		return Frame{}, drop
	}
	if f.Seq < 0 {
		return o.takeDispatcher(f)
	}
	switch o.compare(f) {
	case -1:
		return Frame{}, drop
	case 1:
		if o.text {
			o.ended = true
			return o.interrupted(f), deliver
		}
		o.epoch, o.attempt, o.next = f.Epoch, f.Attempt, 0
	}
	if f.Seq < o.next {
		return Frame{}, drop
	}
	if f.Seq > o.next {
		return Frame{}, gap
	}
	o.next++
	o.text = o.text || f.Kind == FrameDelta && (f.Text != "" || len(f.Raw) > 0)
	o.ended = f.Kind == FrameEnd || f.Kind == FrameError
	return f, deliver
}

// takeDispatcher is like take for a frame outside of attempts.
func (o *frameOrder) takeDispatcher(f Frame) (Frame, verdict) {
	if f.Epoch < o.epoch {
		return Frame{}, drop // from an earlier leader
	}
	switch f.Kind {
	case FrameQueued:
		if o.text {
			return Frame{}, drop
		}
		return f, deliver
	case FrameError, FrameEnd:
		o.ended = true
		return f, deliver
	case FrameStarted, FrameDelta:
	}
	return Frame{}, drop
}

// compare returns -1 if the frame's attempt is older than the current one, 0 if it
// is the current one, and 1 if it is newer.
func (o *frameOrder) compare(f Frame) int {
	switch {
	case f.Epoch < o.epoch, f.Epoch == o.epoch && f.Attempt < o.attempt:
		return -1
	case f.Epoch == o.epoch && f.Attempt == o.attempt:
		return 0
	}
	return 1
}

func (o *frameOrder) interrupted(f Frame) Frame {
	return Frame{
		Request: f.Request, Epoch: f.Epoch, Attempt: f.Attempt, Seq: -1, Kind: FrameError,
		Error: &Failure{Code: CodeInterrupted, Message: "the generation broke off and was started again elsewhere"},
	}
}

func (o *frameOrder) resume(tenant string) Resume {
	return Resume{Tenant: tenant, Epoch: o.epoch, Attempt: o.attempt, Seq: o.next}
}
