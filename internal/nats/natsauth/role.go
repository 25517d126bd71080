package natsauth

import (
	"slices"
	"time"

	"github.com/nats-io/jwt/v2"

	"github.com/gorizond/koldun/internal/names"
)

// A Role is what a user does.
type Role string

// The roles.
const (
	Gateway    Role = "gateway"
	Dispatcher Role = "dispatcher"
	Runner     Role = "runner" // of one session and runner: tags Session, RunnerName and Model
	Job        Role = "job"    // tag Progress
	Provider   Role = "provider"
	Operator   Role = "operator"
)

// Processes returns which processes have the role, for people.
func (r Role) Processes() string {
	switch r {
	case Gateway:
		return "`koldun gateway`"
	case Dispatcher:
		return "`koldun dispatcher`"
	case Runner:
		return "`koldun llm`, the sidecar of an engine"
	case Job:
		return "`koldun fetch`, `koldun convert` and `koldun inspect`"
	case Provider:
		return "the Crossplane provider, the Terraform provider and `koldun up`"
	case Operator:
		return "`koldun requests`"
	}
	return ""
}

// Roles returns all roles, sorted by name.
func Roles() []Role {
	out := []Role{Gateway, Dispatcher, Runner, Job, Provider, Operator}
	slices.Sort(out)
	return out
}

// A Tag names a part of the subjects of a user.
type Tag string

// The tags.
const (
	Session    Tag = "session"  // key of a pool, names.Session
	RunnerName Tag = "runner"   // names.Runner
	Model      Tag = "model"    // names.ModelKey
	Progress   Tag = "progress" // names.ProgressKey
)

// Tags returns the tags that users of the role must have.
func (r Role) Tags() []Tag {
	switch r {
	case Runner:
		return []Tag{Session, RunnerName, Model}
	case Job:
		return []Tag{Progress}
	}
	return nil
}

// of is the place of a tag's value in a template.
func (t Tag) of() string { return "{{tag(" + string(t) + ")}}" }

// InboxPrefix is the prefix of the subjects of answers to a user, by its public key.
// No other user may subscribe to them.
func InboxPrefix(user string) string { return "_INBOX_" + user }

// answerWithin is how long a user may answer a message: longer than anybody waits for an
// answer. The server remembers each message to the user for so long that has a reply
// subject and no answer, as those of consumers have, and looks at all of them each second.
const answerWithin = 10 * time.Second

// Permissions returns the template of the rights of a role. Its subjects hold the
// places of the tags.
func (r Role) Permissions() jwt.Permissions {
	g := &grants{}
	g.subscribe(InboxPrefix("{{subject()}}") + ".>")
	if r.asksJetStream() {
		g.publish("$JS.API.INFO")
	}
	switch r {
	case Gateway:
		gateway(g)
	case Dispatcher:
		dispatcher(g)
	case Runner:
		runner(g)
	case Job:
		g.put(names.ProgressBucket, Progress.of())
	case Provider:
		provider(g)
	case Operator:
		operator(g)
	}
	return g.permissions()
}

func gateway(g *grants) {
	g.publish(names.RequestSubject("*", "*"), names.CancelSubject("*", "*"), names.ResumeSubject("*", "*"), names.UseSubjects)
	g.publish(names.KVSubject(names.DemandBucket, ">"), "$JS.API.STREAM.INFO.*")
	g.get(names.OutcomeStream, names.OutcomeOf("*", "*", "*"))
	g.getKey(names.DemandBucket, ">")
	g.publish(names.KVSubject(names.ResponsesBucket, ">"))
	g.getKey(names.ResponsesBucket, ">")
	g.watch(names.ModelsBucket, ">")
	g.watch(names.TokensBucket, ">")
	g.watch(names.RunnersBucket, ">")
	g.watch(names.DemandBucket, names.SlotKeys)
	g.subscribe(names.FramesSubject("*", "*"), names.UseSubjects)
}

func dispatcher(g *grants) {
	g.publish(names.OutcomeOf("*", "*", "*"), names.DeadOf("*", "*", "*"), names.FramesSubject("*", "*"))
	g.publish(names.AssignSubject("*", "*"), names.SyncSubject("*", "*"), names.CancelSubject("*", "*"))
	g.publish(names.KVSubject(names.LeasesBucket, "*"), "$JS.API.STREAM.INFO.*")
	g.publish("$JS.API.STREAM.MSG.GET."+names.RequestStream, "$JS.API.STREAM.MSG.DELETE."+names.RequestStream, "$JS.API.STREAM.PURGE."+names.RequestStream)
	g.publish("$JS.API.STREAM.MSG.DELETE." + names.DeadStream)
	g.get(names.OutcomeStream, names.OutcomeOf("*", "*", "*"))
	g.getKey(names.LeasesBucket, "*")
	g.watch(names.LeasesBucket, ">")
	g.watch(names.RunnersBucket, ">")
	g.watch(names.ModelsBucket, ">")
	g.read(names.RequestStream, names.RequestSubject("*", "*"))
	g.read(names.DeadStream, names.DeadOf("*", "*", "*"))
	g.subscribe(names.EndSubject("*"), names.FirstTokenSubject("*"), names.CancelSubject("*", "*"), names.ResumeSubject("*", "*"), names.DepthSubject("*"))
	g.subscribe(names.MembersSubject("*", "*"))
	g.answer()
}

// asksJetStream reports whether users of the role may ask JetStream anything. It answers on
// every subject of the account that they name, which may be one of its own that deletes a
// stream: so those that read what strangers send, models and prompts, ask nothing.
func (r Role) asksJetStream() bool { return r != Runner && r != Job }

func runner(g *grants) {
	session, name := Session.of(), RunnerName.of()
	record := names.RunnerKey(session, name)
	g.publish(names.EndSubject(session), names.FirstTokenSubject(session), names.FramesSubject(session, "*"))
	g.publish(names.MembersSubject(session, Model.of()))
	g.put(names.RunnersBucket, record)
	g.subscribe(names.AssignSubject(session, name), names.SyncSubject(session, name), names.DrainSubject(session, name))
	g.subscribe(names.CancelSubject(session, "*"), names.ResumeSubject(session, "*"), names.KVSubject(names.ModelsBucket, Model.of()))
	g.answer()
}

func provider(g *grants) {
	g.publish("$JS.API.STREAM.CREATE.*", "$JS.API.STREAM.UPDATE.*", "$JS.API.STREAM.DELETE.*", "$JS.API.STREAM.INFO.*")
	g.publish("$JS.API.CONSUMER.CREATE.*.*", "$JS.API.CONSUMER.CREATE.*.*.>", "$JS.API.CONSUMER.DELETE.*.*", "$JS.API.CONSUMER.INFO.*.*", "$JS.FC.>")
	g.publish("$JS.API.STREAM.MSG.GET."+names.RequestStream, names.DrainSubject("*", "*"), names.DepthSubject("*"))
	for _, b := range []string{names.ModelsBucket, names.TokensBucket, names.PoolsBucket} {
		g.publish(names.KVSubject(b, ">"))
	}
	g.publish("$JS.API.DIRECT.GET.*.$KV.>")
	g.subscribe("$JS.EVENT.ADVISORY.STREAM.*.*", "$JS.EVENT.ADVISORY.CONSUMER.*.*.*", "$KV.>")
}

func operator(g *grants) {
	g.publish(names.RequestSubject("*", "*"), names.CancelSubject("*", "*"), names.ResumeSubject("*", "*"))
	for _, s := range []string{names.RequestStream, names.OutcomeStream, names.DeadStream} {
		g.publish("$JS.API.STREAM.INFO." + s)
	}
	g.publish("$JS.API.STREAM.MSG.DELETE." + names.DeadStream)
	g.get(names.OutcomeStream, names.OutcomeOf("*", "*", "*"))
	g.read(names.RequestStream, names.RequestSubject("*", "*"))
	g.read(names.OutcomeStream, names.OutcomeOf("*", "*", "*"))
	g.read(names.DeadStream, names.DeadOf("*", "*", "*"))
	g.subscribe(names.FramesSubject("*", "*"))
}
