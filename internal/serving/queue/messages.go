package queue

import (
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue/wire"
)

// The messages that are sent and received by the functions of package bus.
var (
	_ bus.Message = (*Assignment)(nil)
	_ bus.Message = (*AssignmentReply)(nil)
	_ bus.Message = (*FirstToken)(nil)
	_ bus.Message = (*EndReport)(nil)
	_ bus.Message = (*Ack)(nil)
)

// EncodeMessage implements bus.Message.
func (a *Assignment) EncodeMessage() ([]byte, error) { return wire.Encode(a) }

// DecodeMessage implements bus.Message.
func (a *Assignment) DecodeMessage(data []byte) error { return wire.Unmarshal(data, a) }

// EncodeMessage implements bus.Message.
func (a *AssignmentReply) EncodeMessage() ([]byte, error) { return wire.Encode(a) }

// DecodeMessage implements bus.Message.
func (a *AssignmentReply) DecodeMessage(data []byte) error { return wire.Unmarshal(data, a) }

// EncodeMessage implements bus.Message.
func (t *FirstToken) EncodeMessage() ([]byte, error) { return wire.Encode(t) }

// DecodeMessage implements bus.Message.
func (t *FirstToken) DecodeMessage(data []byte) error { return wire.Unmarshal(data, t) }

// EncodeMessage implements bus.Message.
func (e *EndReport) EncodeMessage() ([]byte, error) { return wire.Encode(e) }

// DecodeMessage implements bus.Message.
func (e *EndReport) DecodeMessage(data []byte) error { return wire.Unmarshal(data, e) }

// EncodeMessage implements bus.Message.
func (a *Ack) EncodeMessage() ([]byte, error) { return wire.Encode(a) }

// DecodeMessage implements bus.Message.
func (a *Ack) DecodeMessage(data []byte) error { return wire.Unmarshal(data, a) }

// Visit implements wire.Message.
func (r *Request) Visit(c *wire.Codec) {
	wire.String(c, "id", &r.ID, wire.Never)
	wire.String(c, "session", &r.Session, wire.Never)
	wire.String(c, "tenant", &r.Tenant, wire.Never)
	wire.String(c, "model", &r.Model, wire.Never)
	c.Time("created", &r.Created, wire.Never)
	c.Time("deadline", &r.Deadline, wire.IfEmpty)
	c.Time("endBy", &r.EndBy, wire.IfEmpty)
	wire.Number(c, "timeout", &r.Timeout, wire.Never)
	wire.String(c, "affinity", &r.Affinity, wire.IfEmpty)
	wire.String(c, "priority", &r.Priority, wire.IfEmpty)
	wire.String(c, "replayOf", &r.ReplayOf, wire.IfEmpty)
	wire.String(c, "traceparent", &r.Traceparent, wire.IfEmpty)
	c.Bool("strict", &r.Strict, wire.IfEmpty)
	wire.String(c, "operation", &r.Operation, wire.IfEmpty)
	wire.String(c, "features", &r.Features, wire.IfEmpty)
	c.Last("body", &r.Body, wire.Never)
}

// Visit implements wire.Message.
func (a *Assignment) Visit(c *wire.Codec) {
	a.visitHeader(c)
	c.Object("request", &a.Request)
}

func (a *Assignment) visitHeader(c *wire.Codec) {
	wire.Number(c, "attempt", &a.Attempt, wire.Never)
	wire.Number(c, "epoch", &a.Epoch, wire.Never)
	wire.Number(c, "seq", &a.Seq, wire.Never)
	wire.String(c, "instance", &a.Instance, wire.IfEmpty)
}

// Visit implements wire.Message.
func (a *AssignmentReply) Visit(c *wire.Codec) {
	c.Bool("accepted", &a.Accepted, wire.Never)
	wire.String(c, "reason", &a.Reason, wire.IfEmpty)
	wire.Number(c, "epoch", &a.Epoch, wire.IfEmpty)
	a.RunnerStatus.Visit(c)
}

// Visit implements wire.Message.
func (s *RunnerStatus) Visit(c *wire.Codec) {
	wire.String(c, "instance", &s.Instance, wire.Never)
	wire.Number(c, "version", &s.Version, wire.Never)
	wire.String(c, "state", &s.State, wire.Never)
	wire.String(c, "affinity", &s.Affinity, wire.IfEmpty)
	wire.Number(c, "busy", &s.Busy, wire.IfEmpty)
	c.Strings("affinities", &s.Affinities)
}

// Visit implements wire.Message.
func (t *FirstToken) Visit(c *wire.Codec) {
	wire.String(c, "request", &t.Request, wire.Never)
	wire.Number(c, "epoch", &t.Epoch, wire.Never)
	wire.Number(c, "attempt", &t.Attempt, wire.Never)
	wire.String(c, "runner", &t.Runner, wire.Never)
	wire.String(c, "instance", &t.Instance, wire.IfEmpty)
}

// Visit implements wire.Message.
func (a *Ack) Visit(c *wire.Codec) {
	c.Bool("ok", &a.OK, wire.Never)
	wire.String(c, "reason", &a.Reason, wire.IfEmpty)
}

// Visit implements wire.Message.
func (f *Frame) Visit(c *wire.Codec) {
	wire.String(c, "request", &f.Request, wire.Never)
	wire.Number(c, "epoch", &f.Epoch, wire.IfEmpty)
	wire.Number(c, "attempt", &f.Attempt, wire.Never)
	wire.Number(c, "seq", &f.Seq, wire.Never)
	wire.String(c, "kind", &f.Kind, wire.Never)
	c.Strings("ignored", &f.Ignored)
	wire.String(c, "member", &f.Member, wire.IfEmpty)
	wire.String(c, "text", &f.Text, wire.IfEmpty)
	wire.String(c, "finishReason", &f.FinishReason, wire.IfEmpty)
	wire.Optional(c, "usage", &f.Usage)
	wire.Number(c, "position", &f.Position, wire.IfEmpty)
	wire.Number(c, "wait", &f.Wait, wire.IfEmpty)
	wire.Optional(c, "error", &f.Error)
	c.Last("raw", &f.Raw, wire.IfEmpty)
}

// Visit implements wire.Message.
func (u *Usage) Visit(c *wire.Codec) {
	wire.Number(c, "promptTokens", &u.PromptTokens, wire.Never)
	wire.Number(c, "completionTokens", &u.CompletionTokens, wire.Never)
	wire.OptionalNumber(c, "cachedTokens", &u.CachedTokens)
	wire.OptionalNumber(c, "reasoningTokens", &u.ReasoningTokens)
}

// Visit implements wire.Message.
func (f *Failure) Visit(c *wire.Codec) {
	wire.String(c, "code", &f.Code, wire.Never)
	wire.String(c, "message", &f.Message, wire.Never)
	wire.String(c, "param", &f.Param, wire.IfEmpty)
	wire.Number(c, "retryAfter", &f.RetryAfter, wire.IfEmpty)
}

// Visit implements wire.Message.
func (e *AttemptEnd) Visit(c *wire.Codec) {
	wire.String(c, "request", &e.Request, wire.Never)
	wire.Number(c, "epoch", &e.Epoch, wire.IfEmpty)
	wire.Number(c, "attempt", &e.Attempt, wire.Never)
	wire.String(c, "runner", &e.Runner, wire.Never)
	c.Time("started", &e.Started, wire.IfEmpty)
	c.Time("firstToken", &e.FirstToken, wire.IfEmpty)
	c.Time("ended", &e.Ended, wire.Never)
	wire.String(c, "finishReason", &e.FinishReason, wire.IfEmpty)
	c.Object("usage", &e.Usage)
	wire.Optional(c, "error", &e.Error)
}

// Visit implements wire.Message.
func (e *EndReport) Visit(c *wire.Codec) {
	e.AttemptEnd.Visit(c)
	c.Object("standing", &e.Status)
}

// Visit implements wire.Message.
func (o *Outcome) Visit(c *wire.Codec) {
	wire.String(c, "request", &o.Request, wire.Never)
	wire.String(c, "session", &o.Session, wire.Never)
	wire.String(c, "tenant", &o.Tenant, wire.Never)
	wire.String(c, "model", &o.Model, wire.Never)
	wire.String(c, "state", &o.State, wire.Never)
	wire.String(c, "priority", &o.Priority, wire.IfEmpty)
	wire.Number(c, "attempts", &o.Attempts, wire.Never)
	wire.String(c, "runner", &o.Runner, wire.IfEmpty)
	wire.String(c, "group", &o.Group, wire.IfEmpty)
	c.Time("created", &o.Created, wire.Never)
	c.Time("started", &o.Started, wire.IfEmpty)
	c.Time("firstToken", &o.First, wire.IfEmpty)
	c.Time("ended", &o.Ended, wire.Never)
	c.Object("usage", &o.Usage)
	wire.Optional(c, "error", &o.Error)
	c.Strings("reasons", &o.Reasons)
	c.Bool("dead", &o.Dead, wire.IfEmpty)
	wire.String(c, "replayOf", &o.ReplayOf, wire.IfEmpty)
}
