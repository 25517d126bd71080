package bus

func (r *Request) visit(c *codec) {
	text(c, "id", &r.ID, always)
	text(c, "session", &r.Session, always)
	text(c, "tenant", &r.Tenant, always)
	text(c, "model", &r.Model, always)
	c.moment("created", &r.Created, always)
	c.moment("deadline", &r.Deadline, unlessEmpty)
	number(c, "timeout", &r.Timeout, always)
	text(c, "affinity", &r.Affinity, unlessEmpty)
	text(c, "priority", &r.Priority, unlessEmpty)
	text(c, "replayOf", &r.ReplayOf, unlessEmpty)
	text(c, "traceparent", &r.Traceparent, unlessEmpty)
	c.flag("strict", &r.Strict, unlessEmpty)
	c.last("body", &r.Body)
}

func (a *Assignment) visit(c *codec) {
	number(c, "attempt", &a.Attempt, always)
	number(c, "epoch", &a.Epoch, always)
	number(c, "seq", &a.Seq, always)
	text(c, "instance", &a.Instance, unlessEmpty)
	c.part("request", &a.Request)
}

func (a *AssignmentReply) visit(c *codec) {
	c.flag("accepted", &a.Accepted, always)
	text(c, "reason", &a.Reason, unlessEmpty)
	number(c, "epoch", &a.Epoch, unlessEmpty)
	a.Standing.visit(c)
}

func (s *Standing) visit(c *codec) {
	text(c, "instance", &s.Instance, always)
	number(c, "version", &s.Version, always)
	text(c, "state", &s.State, always)
	text(c, "affinity", &s.Affinity, unlessEmpty)
}

func (m *Mark) visit(c *codec) {
	text(c, "request", &m.Request, always)
	number(c, "epoch", &m.Epoch, always)
	number(c, "attempt", &m.Attempt, always)
	text(c, "runner", &m.Runner, always)
}

func (a *Ack) visit(c *codec) {
	c.flag("ok", &a.OK, always)
	text(c, "reason", &a.Reason, unlessEmpty)
}

func (f *Frame) visit(c *codec) {
	text(c, "request", &f.Request, always)
	number(c, "epoch", &f.Epoch, unlessEmpty)
	number(c, "attempt", &f.Attempt, always)
	number(c, "seq", &f.Seq, always)
	text(c, "kind", &f.Kind, always)
	c.texts("ignored", &f.Ignored)
	text(c, "text", &f.Text, unlessEmpty)
	text(c, "finishReason", &f.FinishReason, unlessEmpty)
	optional(c, "usage", &f.Usage)
	number(c, "position", &f.Position, unlessEmpty)
	number(c, "wait", &f.Wait, unlessEmpty)
	optional(c, "error", &f.Error)
}

func (u *Usage) visit(c *codec) {
	number(c, "promptTokens", &u.PromptTokens, always)
	number(c, "completionTokens", &u.CompletionTokens, always)
}

func (f *Failure) visit(c *codec) {
	text(c, "code", &f.Code, always)
	text(c, "message", &f.Message, always)
	text(c, "param", &f.Param, unlessEmpty)
}

func (e *AttemptEnd) visit(c *codec) {
	text(c, "request", &e.Request, always)
	number(c, "epoch", &e.Epoch, unlessEmpty)
	number(c, "attempt", &e.Attempt, always)
	text(c, "runner", &e.Runner, always)
	c.moment("started", &e.Started, unlessEmpty)
	c.moment("firstToken", &e.FirstToken, unlessEmpty)
	c.moment("ended", &e.Ended, always)
	text(c, "finishReason", &e.FinishReason, unlessEmpty)
	c.part("usage", &e.Usage)
	optional(c, "error", &e.Error)
}

func (e *EndReport) visit(c *codec) {
	e.AttemptEnd.visit(c)
	c.part("standing", &e.Standing)
}

func (o *Outcome) visit(c *codec) {
	text(c, "request", &o.Request, always)
	text(c, "session", &o.Session, always)
	text(c, "tenant", &o.Tenant, always)
	text(c, "model", &o.Model, always)
	text(c, "state", &o.State, always)
	text(c, "priority", &o.Priority, unlessEmpty)
	number(c, "attempts", &o.Attempts, always)
	text(c, "runner", &o.Runner, unlessEmpty)
	c.moment("created", &o.Created, always)
	c.moment("started", &o.Started, unlessEmpty)
	c.moment("firstToken", &o.First, unlessEmpty)
	c.moment("ended", &o.Ended, always)
	c.part("usage", &o.Usage)
	optional(c, "error", &o.Error)
	c.texts("reasons", &o.Reasons)
	c.flag("dead", &o.Dead, unlessEmpty)
	text(c, "replayOf", &o.ReplayOf, unlessEmpty)
}
