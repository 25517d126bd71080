package hostile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

const (
	session = "team_tiny"
	runner  = "team_tiny-root-0"
	stage   = "team/0123456789abcdef/fetch"
	api     = "$JS.API."
)

// tags are those of the attackers that need some.
func tags(r natsauth.Role) map[natsauth.Tag]string {
	switch r {
	case natsauth.Runner:
		return map[natsauth.Tag]string{natsauth.Session: session, natsauth.RunnerName: runner, natsauth.Model: names.ModelKey("team", "tiny")}
	case natsauth.Job:
		return map[natsauth.Tag]string{natsauth.Progress: stage}
	}
	return nil
}

// An attack is a message that a user of a role sends, or a subject that it listens to.
type attack struct {
	by      natsauth.Role
	subject string
	listen  bool
	body    string
	header  nats.Header
	// mayAsk means that the role may send it, and the server does not do what it asks.
	mayAsk bool
}

// attacks are those of users of the victim's own account, whose roles end short of them.
func attacks() map[string]attack {
	token := names.KVSubject(names.TokensBucket, names.TokenKey(strings.Repeat("0", 64)))
	consumer := func(stream, filter string) string { return api + "CONSUMER.CREATE." + stream + ".evil." + filter }
	return map[string]attack{
		"RunnerForgesFramesOfOthers":     {by: natsauth.Runner, subject: names.FramesSubject("team_other", "req_1")},
		"RunnerForgesEndOfOthers":        {by: natsauth.Runner, subject: names.EndSubject("team_other")},
		"RunnerForgesFirstTokenOfOthers": {by: natsauth.Runner, subject: names.FirstTokenSubject("team_other")},
		"RunnerForgesTerminalRecord":     {by: natsauth.Runner, subject: names.OutcomeOf(session, "t", "req_1")},
		"RunnerReplaysAssignment":        {by: natsauth.Runner, subject: names.AssignSubject(session, runner)},
		"RunnerImpersonatesRunner":       {by: natsauth.Runner, subject: names.KVSubject(names.RunnersBucket, names.RunnerKey(session, "team_tiny-root-1"))},
		"RunnerTakesLease":               {by: natsauth.Runner, subject: names.KVSubject(names.LeasesBucket, session)},
		"RunnerHearsAssignmentsOfOthers": {by: natsauth.Runner, subject: names.AssignSubject(session, "*"), listen: true},
		"RunnerHearsRequests":            {by: natsauth.Runner, subject: "koldun.v1.req.>", listen: true},
		"RunnerHearsEverything":          {by: natsauth.Runner, subject: ">", listen: true},
		"RunnerHearsAnswersOfOthers":     {by: natsauth.Runner, subject: "_INBOX_*.>", listen: true},
		"RunnerReadsToken":               {by: natsauth.Runner, subject: api + "DIRECT.GET.KV_koldun_tokens." + token},
		"RunnerReadsByBody":              {by: natsauth.Runner, subject: api + "DIRECT.GET.KV_koldun_models", body: `{"last_by_subj":"$KV.koldun_models.model/team/other"}`},
		"RunnerMakesConsumer":            {by: natsauth.Runner, subject: consumer(names.RequestStream, "koldun.v1.req.*.*"), body: "{}"},
		"RunnerReadsOtherModel":          {by: natsauth.Runner, subject: names.MembersSubject(session, names.ModelKey("team", "other"))},
		"RunnerAsksJetStream":            {by: natsauth.Runner, subject: api + "INFO"},
		"RunnerReadsRecord":              {by: natsauth.Runner, subject: api + "DIRECT.GET.KV_koldun_runners." + names.KVSubject(names.RunnersBucket, names.RunnerKey(session, runner))},
		"RunnerListsKeys":                {by: natsauth.Runner, subject: api + "STREAM.INFO.KV_koldun_tokens", body: `{"subjects_filter":">"}`},
		"JobEmptiesBucket":               {by: natsauth.Job, mayAsk: true, subject: names.KVSubject(names.ProgressBucket, stage), header: nats.Header{"Nats-Rollup": {"all"}}},
		"JobWritesProgressOfOthers":      {by: natsauth.Job, subject: names.KVSubject(names.ProgressBucket, "team/0123456789abcdef/convert")},
		"JobAsksJetStream":               {by: natsauth.Job, subject: api + "INFO"},
		"JobQueuesRequest":               {by: natsauth.Job, subject: names.RequestSubject(session, "t")},
		"JobHearsProgress":               {by: natsauth.Job, subject: names.KVSubject(names.ProgressBucket, ">"), listen: true},
		"JobAnswersFlowControl":          {by: natsauth.Job, subject: "$JS.FC.KV_koldun_models.x.y"},
		"GatewayWritesToken":             {by: natsauth.Gateway, subject: token},
		"GatewayWritesModel":             {by: natsauth.Gateway, subject: names.KVSubject(names.ModelsBucket, names.ModelKey("team", "tiny"))},
		"GatewayReadsPrompts":            {by: natsauth.Gateway, subject: api + "STREAM.MSG.GET." + names.RequestStream, body: `{"seq":1}`},
		"GatewayConsumesPrompts":         {by: natsauth.Gateway, subject: consumer(names.RequestStream, "koldun.v1.req.*.*"), body: "{}"},
		"GatewayForgesTerminal":          {by: natsauth.Gateway, subject: names.OutcomeOf(session, "t", "req_1")},
		"GatewayForgesFrames":            {by: natsauth.Gateway, subject: names.FramesSubject(session, "req_1")},
		"GatewayPurges":                  {by: natsauth.Gateway, subject: api + "STREAM.PURGE." + names.RequestStream},
		"GatewayDeletesStream":           {by: natsauth.Gateway, subject: api + "STREAM.DELETE." + names.RequestStream},
		"DispatcherReadsTokens":          {by: natsauth.Dispatcher, subject: consumer("KV_koldun_tokens", "$KV.koldun_tokens.>"), body: "{}"},
		"DispatcherQueuesRequest":        {by: natsauth.Dispatcher, subject: names.RequestSubject(session, "t")},
		"DispatcherImpersonates":         {by: natsauth.Dispatcher, subject: names.KVSubject(names.RunnersBucket, names.RunnerKey(session, runner))},
		"ProviderQueuesRequest":          {by: natsauth.Provider, subject: names.RequestSubject(session, "t")},
		"ProviderReadsDeadLetters":       {by: natsauth.Provider, subject: api + "STREAM.MSG.GET." + names.DeadStream, body: `{"seq":1}`},
		"ProviderChangesAccounts":        {by: natsauth.Provider, subject: "$SYS.REQ.CLAIMS.UPDATE"},
		"OperatorWritesToken":            {by: natsauth.Operator, subject: token},
		"OperatorForgesTerminal":         {by: natsauth.Operator, subject: names.OutcomeOf(session, "t", "req_1")},
		"OperatorPurgesAllAccounts":      {by: natsauth.Operator, subject: "$JS.API.ACCOUNT.PURGE.X"},
	}
}

// A victim is an account with a request, a token and a record of a runner.
type victim struct {
	account natstest.Tenant
	bus     *bus.Bus
	before  map[string]uint64
}

func newVictim(t *testing.T, s *natstest.OperatorServer, name string) *victim {
	t.Helper()
	v := &victim{account: s.Account(name, natsauth.Limits{})}
	v.bus = s.Everything(v.account)
	ctx := waittest.Context(t)
	if err := v.bus.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := queue.New(v.bus).Publish(ctx, queue.Request{ID: "req_1", Session: session, Tenant: "t"}); err != nil {
		t.Fatal(err)
	}
	for bucket, key := range map[string]string{
		names.TokensBucket: names.TokenKey(strings.Repeat("0", 64)), names.ModelsBucket: names.ModelKey("team", "other"),
		names.RunnersBucket: names.RunnerKey(session, "team_tiny-root-1"), names.ProgressBucket: "team/0123456789abcdef/convert",
	} {
		if _, err := v.bus.Put(ctx, bucket, key, "victim"); err != nil {
			t.Fatal(err)
		}
	}
	v.before = v.sequences(t)
	return v
}

// sequences returns the last sequence and the number of messages of each stream.
func (v *victim) sequences(t *testing.T) map[string]uint64 {
	t.Helper()
	out := map[string]uint64{}
	all := v.bus.JetStream().ListStreams(waittest.Context(t))
	for info := range all.Info() {
		out[info.Config.Name+" last"], out[info.Config.Name+" messages"] = info.State.LastSeq, info.State.Msgs
	}
	if all.Err() != nil || len(out) == 0 {
		t.Fatalf("cannot list the streams: %v", all.Err())
	}
	return out
}

func (v *victim) unharmed(t *testing.T) {
	t.Helper()
	now := v.sequences(t)
	if len(now) != len(v.before) {
		t.Errorf("the victim has %d streams, and had %d", len(now)/2, len(v.before)/2)
	}
	for _, change := range v.changes(t, nil) {
		t.Error(change)
	}
}

// connect connects as a user does that has no limits of our client.
func connect(t *testing.T, cfg bus.Config) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(cfg.URL, nats.UserCredentialBytes([]byte(cfg.Creds)), nats.CustomInboxPrefix(cfg.InboxPrefix), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// TestAttacksWithinAnAccount tries each attack as the role that would profit from it.
func TestAttacksWithinAnAccount(t *testing.T) {
	t.Parallel()
	s := natstest.StartOperator(t)
	v := newVictim(t, s, "victim")
	for name, a := range attacks() {
		t.Run(name, func(t *testing.T) {
			nc := connect(t, s.As(v.account, a.by, tags(a.by)))
			m := &nats.Msg{Subject: a.subject, Data: []byte(a.body), Header: a.header}
			switch {
			case a.mayAsk: // unharmed sees whether the server has done it
				if err := nc.PublishMsg(m); err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(nc.Flush(), nc.LastError()); err != nil {
					t.Error(err)
				}
				return
			case a.listen:
				if _, err := nc.SubscribeSync(a.subject); err != nil {
					t.Fatal(err)
				}
			default:
				if err := nc.PublishMsg(m); err != nil {
					t.Fatal(err)
				}
			}
			if err := nc.Flush(); err != nil { // the server objects before it answers
				t.Fatal(err)
			}
			if err := nc.LastError(); !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("the server says %v, want a violation of permissions", err)
			}
		})
	}
	v.unharmed(t)
}

// replies are subjects that do something with the account when a message comes there. Users of
// all roles may name them as the subject for an answer, which NATS does not check.
func replies() map[string]string {
	return map[string]string{
		"DeletesStream": api + "STREAM.DELETE." + names.RequestStream,
		"PurgesStream":  api + "STREAM.PURGE." + names.RequestStream,
		"WritesToken":   names.KVSubject(names.TokensBucket, names.TokenKey(strings.Repeat("0", 64))),
		"QueuesRequest": names.RequestSubject(session, "t"),
	}
}

// TestAnswersGoNowhere publishes on each subject that runners and Jobs may use, and asks for
// the answer on a subject that they may not use. The server must not answer there.
func TestAnswersGoNowhere(t *testing.T) {
	t.Parallel()
	s := natstest.StartOperator(t)
	for name, reply := range replies() {
		for _, role := range []natsauth.Role{natsauth.Runner, natsauth.Job} {
			t.Run(name+"/"+string(role), func(t *testing.T) {
				v := newVictim(t, s, strings.ToLower(name+"-"+string(role)))
				written := v.askFor(t, s, role, reply, mayPublish(role)...)
				for _, change := range v.changes(t, written) {
					t.Error(change)
				}
			})
		}
	}
	t.Run("WritesToken/gateway", func(t *testing.T) { // it may ask JetStream: the attack is one
		v := newVictim(t, s, "gateway")
		written := v.askFor(t, s, natsauth.Gateway, replies()["WritesToken"], api+"INFO")
		waittest.Until(t, "JetStream to overwrite the token", func() bool {
			return slices.ContainsFunc(v.changes(t, written), func(change string) bool {
				return strings.HasPrefix(change, names.KVStream(names.TokensBucket)+" ")
			})
		})
	})
}

// mayPublish returns the subjects on which the attacker of a role may publish.
func mayPublish(role natsauth.Role) (subjects []string) {
	for _, subject := range role.Permissions().Pub.Allow {
		for tag, value := range tags(role) {
			subject = strings.ReplaceAll(subject, "{{tag("+string(tag)+")}}", value)
		}
		subjects = append(subjects, strings.ReplaceAll(subject, "*", "x"))
	}
	return subjects
}

// askFor publishes on subjects as a user of a role, with a subject for the answers. It returns
// the streams that it has written to, after they have handled it.
func (v *victim) askFor(t *testing.T, s *natstest.OperatorServer, role natsauth.Role, reply string, subjects ...string) (written []string) {
	t.Helper()
	nc := connect(t, s.As(v.account, role, tags(role)))
	for _, subject := range subjects {
		if err := nc.PublishMsg(&nats.Msg{Subject: subject, Reply: reply}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(nc.Flush(), nc.LastError()); err != nil {
		t.Fatal(err)
	}
	for _, subject := range subjects {
		if key, ok := strings.CutPrefix(subject, "$KV."); ok {
			bucket, _, _ := strings.Cut(key, ".")
			if _, err := v.bus.Put(waittest.Context(t), bucket, "after", ""); err != nil { // handled after those above
				t.Fatal(err)
			}
			written = append(written, names.KVStream(bucket))
		}
	}
	return written
}

// changes describes what has changed since before in all streams but some.
func (v *victim) changes(t *testing.T, except []string) (changes []string) {
	t.Helper()
	now := v.sequences(t)
	for what, n := range v.before {
		if stream, _, _ := strings.Cut(what, " "); now[what] != n && !slices.Contains(except, stream) {
			changes = append(changes, fmt.Sprintf("%s: %d, was %d", what, now[what], n))
		}
	}
	return changes
}

// TestAttacksOfAnotherAccount does the same as users of another account, who have all
// rights in it: whatever the server lets them do, nothing reaches the victim.
func TestAttacksOfAnotherAccount(t *testing.T) {
	t.Parallel()
	s := natstest.StartOperator(t)
	v := newVictim(t, s, "victim")
	hostile := s.Account("hostile", natsauth.Limits{})
	other := s.Everything(hostile)
	if err := other.Ensure(waittest.Context(t)); err != nil {
		t.Fatal(err)
	}
	heard, err := v.bus.Conn().SubscribeSync("koldun.v1.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.bus.Flush(); err != nil {
		t.Fatal(err)
	}
	for name, a := range attacks() {
		if a.listen {
			continue
		}
		if err := other.Conn().PublishMsg(&nats.Msg{Subject: a.subject, Data: []byte(a.body), Header: a.header}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if err := errors.Join(other.Flush(), v.bus.Flush()); err != nil {
		t.Fatal(err)
	}
	if n, _, err := heard.Pending(); err != nil || n != 0 {
		t.Errorf("the victim hears %d messages of another account, %v", n, err)
	}
	v.unharmed(t)
}
