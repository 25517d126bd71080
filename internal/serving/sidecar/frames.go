package sidecar

import (
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
)

const (
	maxLogBytes = 4 << 20  // bytes of stored text and parts per attempt
	maxHeld     = 64 << 10 // bytes of parts in a frame, unless one piece has more
	maxResend   = 100      // frames per answer to a resume, fewer than a gateway buffers
	logCost     = 1 << 10  // approximate bytes of a log without its text
	frameCost   = 256      // approximate bytes of a frame without its text

	// framePace is the minimum interval of text frames, which users cannot
	// perceive. The first text never waits.
	framePace = 10 * time.Millisecond
	// readPace is the interval of reads from an engine that generates faster, for
	// the same reason.
	readPace = 20 * time.Millisecond
	// startLag is how long FrameStarted waits for the first text, because alone
	// it wakes two processes that have nothing to do yet.
	startLag = framePace
)

// A frameLog numbers, publishes and stores the frames of one attempt, so that lost
// frames can be sent again.
type frameLog struct {
	queue *queue.Queue
	log   *slog.Logger
	as    queue.Assignment

	mu        sync.Mutex
	first     int // Seq of frames[0]
	frames    []queue.Frame
	published int // Seq of the next frame to publish
	bytes     int
	held      strings.Builder // text of the next frame
	parts     *openai.Parts   // what the next frame holds beside its text; nil: nothing
	timer     *time.Timer     // runs while frames or text wait
	last      time.Time       // when a frame was published
}

func newFrameLog(q *queue.Queue, log *slog.Logger, as queue.Assignment) *frameLog {
	as.Request.Body = nil // may be large, and the log outlives its attempt
	return &frameLog{queue: q, log: log, as: as}
}

// addPiece publishes a piece of the answer, or holds it briefly if another one was
// just published, because each message wakes three processes.
func (l *frameLog) addPiece(text string, parts *openai.Parts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holds() && (!l.parts.Precedes(l.held.Len() > 0, text, parts) || l.parts.Size() >= maxHeld) {
		l.releaseHeld()
	}
	now := time.Now()
	wait := framePace - now.Sub(l.last)
	if wait <= 0 && !l.holds() {
		l.append(l.piece(text, parts), now)
		return
	}
	if !l.holds() {
		l.hold(max(wait, 0))
	}
	l.held.WriteString(text)
	if parts == nil {
		return
	}
	if l.parts == nil {
		l.parts = &openai.Parts{}
	}
	l.parts.Add(parts)
}

// holds is called with mu held.
func (l *frameLog) holds() bool { return l.held.Len() > 0 || l.parts != nil }

func (l *frameLog) piece(text string, parts *openai.Parts) queue.Frame {
	f := queue.Frame{Kind: queue.FrameDelta, Text: text}
	if parts == nil {
		return f
	}
	raw, err := openai.Encode(parts)
	if err != nil { // impossible for parts that were decoded
		l.log.Error("cannot encode a piece of an answer", "request", l.as.Request.ID, "error", err)
	}
	f.Raw = raw
	return f
}

// hold schedules release after d, unless a frame is published before. It is called
// with mu held.
func (l *frameLog) hold(d time.Duration) {
	if l.timer == nil {
		l.timer = time.AfterFunc(d, l.release)
		return
	}
	l.timer.Reset(d)
}

func (l *frameLog) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.releaseHeld()
	l.publishNew()
}

// releaseHeld publishes what is held, after all before it. It is called with mu held.
func (l *frameLog) releaseHeld() {
	if !l.holds() {
		return
	}
	f := l.piece(l.held.String(), l.parts)
	l.held.Reset()
	l.parts = nil
	l.append(f, time.Now())
}

// add publishes a frame after all held text.
func (l *frameLog) add(f queue.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.releaseHeld()
	l.append(f, time.Time{})
}

// addSoon adds a frame that is published with the next one, or alone after
// startLag.
func (l *frameLog) addSoon(f queue.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(f)
	l.hold(startLag)
}

// append publishes a frame after those that wait. It is called with mu held,
// which keeps it in order with frames sent again.
func (l *frameLog) append(f queue.Frame, now time.Time) {
	l.last = now
	l.keep(f)
	l.publishNew()
}

// keep numbers and stores a frame. It is called with mu held.
func (l *frameLog) keep(f queue.Frame) {
	f.Request, f.Epoch, f.Attempt = l.as.Request.ID, l.as.Epoch, l.as.Attempt
	f.Seq = l.first + len(l.frames)
	l.frames = append(l.frames, f)
	l.bytes += len(f.Text) + len(f.Raw)
	for l.bytes > maxLogBytes {
		l.bytes -= len(l.frames[0].Text) + len(l.frames[0].Raw)
		l.frames = l.frames[1:]
		l.first++
	}
}

// publishNew publishes all unpublished frames. It is called with mu held.
func (l *frameLog) publishNew() {
	if l.timer != nil {
		l.timer.Stop()
	}
	for _, f := range l.frames[max(l.published-l.first, 0):] {
		l.publish(f)
	}
	l.published = l.first + len(l.frames)
}

// resend publishes stored frames again, from a given one on.
func (l *frameLog) resend(from queue.Resume) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seq := from.Seq
	if from.Epoch != l.as.Epoch || from.Attempt != l.as.Attempt {
		seq = 0
	}
	i := seq - l.first
	if i < 0 { // the frames are no longer stored
		l.publish(queue.Frame{
			Request: l.as.Request.ID, Epoch: l.as.Epoch, Attempt: l.as.Attempt, Seq: -1, Kind: queue.FrameError,
			Error: &queue.Failure{Code: queue.CodeInterrupted, Message: "the beginning of the answer was lost on its way"},
		})
		return
	}
	for n := 0; i < len(l.frames) && n < maxResend; i, n = i+1, n+1 {
		l.publish(l.frames[i])
	}
	if i < len(l.frames) { // the last frame shows the gateway that frames are missing
		l.publish(l.frames[len(l.frames)-1])
	}
}

func (l *frameLog) publish(f queue.Frame) {
	if err := l.queue.PublishFrame(l.as.Request.Session, f); err != nil {
		// The frame is stored, and the gateway will request it again.
		l.log.Debug("cannot publish a frame", "request", f.Request, "seq", f.Seq, "error", err)
	}
}

// size returns the approximate size of the log in bytes.
func (l *frameLog) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes + logCost + len(l.frames)*frameCost
}
