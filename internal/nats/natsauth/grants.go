package natsauth

import (
	"github.com/nats-io/jwt/v2"

	"github.com/gorizond/koldun/internal/names"
)

// grants collects the rights of a role.
type grants struct{ out jwt.Permissions }

func (g *grants) publish(subjects ...string)   { g.out.Pub.Allow.Add(subjects...) }
func (g *grants) subscribe(subjects ...string) { g.out.Sub.Allow.Add(subjects...) }

// answer permits one answer to each message, wherever its sender wants it.
func (g *grants) answer() {
	g.out.Resp = &jwt.ResponsePermission{MaxMsgs: 1, Expires: answerWithin}
}

// get permits reads of the last messages of a subject. The subject is part of the
// request, because a request without one reads the whole stream.
func (g *grants) get(stream, subject string) {
	g.publish("$JS.API.DIRECT.GET." + stream + "." + subject)
}

// getKey permits reads of the keys of a bucket that match a filter.
func (g *grants) getKey(bucket, filter string) {
	g.get(names.KVStream(bucket), names.KVSubject(bucket, filter))
}

// put permits writes of one key of an unacknowledged bucket.
func (g *grants) put(bucket, key string) {
	g.publish(names.KVSubject(bucket, key))
	g.subscribe(names.StoredSubject(bucket, key))
}

// read permits consumers that pull the messages of a subject.
func (g *grants) read(stream, subject string) {
	g.publish("$JS.API.CONSUMER.CREATE."+stream+".*."+subject, "$JS.API.CONSUMER.MSG.NEXT."+stream+".*", "$JS.API.CONSUMER.DELETE."+stream+".*")
}

// watch permits watches of the keys of a bucket that match a filter. Without the
// right to answer flow control a watch stops in the middle of many keys.
func (g *grants) watch(bucket, filter string) {
	stream := names.KVStream(bucket)
	g.publish("$JS.API.CONSUMER.CREATE."+stream+".*."+names.KVSubject(bucket, filter), "$JS.API.CONSUMER.DELETE."+stream+".*", "$JS.FC."+stream+".>")
}

func (g *grants) permissions() jwt.Permissions { return g.out }
