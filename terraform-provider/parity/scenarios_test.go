package parity

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/serving/registry"
)

type object = map[string]any

func bucketScenarios() []scenario {
	const policy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::models/*"}]}`
	least := object{"bucketName": "models"}
	most := object{
		"bucketName": "models", "forceDestroy": true, "versioning": "Suspended", "tags": object{"team": "a", "use": "models"},
		"policy": policy, "abortUploadsAfterDays": 2,
	}
	other := object{"bucketName": "models", "forceDestroy": false, "versioning": "Suspended", "tags": object{"team": "b"}, "abortUploadsAfterDays": 3}
	// The embedded gateway has no lifecycle rules: all managers must report that.
	ruled := object{"bucketName": "models", "lifecycleRules": []any{object{"id": "old", "prefix": "tmp/", "expirationDays": 1, "noncurrentDays": 2}}}
	return append(standardScenarios("bucket", "buckets", least, most, other),
		scenario{resource: "bucket", plural: "buckets", name: "Lifecycle", steps: []step{{name: "set lifecycle rules", spec: ruled, refused: "lifecycle"}}})
}

func streamScenarios() []scenario {
	least := object{"name": "work", "subjects": []any{"work.>"}}
	most := object{
		"name": "work", "subjects": []any{"work.a", "work.b"}, "discard": "new", "maxBytes": 1 << 20, "maxMsgs": 1000, "maxMsgSize": 4096,
		"maxMsgsPerSubject": 5, "maxAge": "1h", "duplicateWindow": "30s", "replicas": 1, "placement": object{"cluster": "here", "tags": []any{"fast"}},
	}
	other := object{
		"name": "work", "subjects": []any{"work.b", "work.c"}, "discard": "old", "maxBytes": 2 << 20, "maxMsgs": 2000, "maxMsgSize": 8192,
		"maxMsgsPerSubject": 6, "maxAge": "90m", "duplicateWindow": "1m", "replicas": 1,
	}
	return standardScenarios("stream", "streams", least, most, other)
}

func keyValueScenes() []scenario {
	least := object{"bucket": "settings"}
	most := object{"bucket": "settings", "limitMarkerTTL": "1m", "ttl": "24h", "history": 3, "maxBytes": 1 << 20, "maxValueSize": 1024, "replicas": 1, "placement": object{"cluster": "here", "tags": []any{"fast"}}}
	other := object{"bucket": "settings", "limitMarkerTTL": "2m", "ttl": "12h", "history": 4, "maxBytes": 2 << 20, "maxValueSize": 2048, "replicas": 1}
	return standardScenarios("key_value", "keyvalues", least, most, other)
}

func consumerScenarios() []scenario {
	with := func(more object) object {
		out := object{"stream": "work", "name": "reader"}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	least := with(nil)
	most := with(object{
		"description": "reads", "filterSubjects": []any{"work.a", "work.b"}, "deliverPolicy": "All", "ackPolicy": "Explicit", "replayPolicy": "Instant",
		"ackWait": "20s", "maxDeliver": 5, "backoff": []any{"1s", "10s"}, "maxAckPending": 7, "inactiveThreshold": "1h", "headersOnly": true, "replicas": 1,
	})
	other := with(object{
		"description": "reads more", "filterSubjects": []any{"work.b"}, "deliverPolicy": "All", "ackPolicy": "Explicit", "replayPolicy": "Instant",
		"ackWait": "40s", "maxDeliver": 6, "maxAckPending": 8, "inactiveThreshold": "2h", "headersOnly": false, "replicas": 1,
	})
	out := standardScenarios("consumer", "consumers", least, most, other)
	for name, begin := range map[string]object{
		"FromSequence": {"deliverPolicy": "ByStartSequence", "startSequence": 3},
		"FromTime":     {"deliverPolicy": "ByStartTime", "startTime": "2026-01-31T00:00:00Z"},
		"Others":       {"deliverPolicy": "New", "ackPolicy": "None", "replayPolicy": "Original"},
	} {
		out = append(out, scenario{resource: "consumer", plural: "consumers", name: name, steps: []step{{name: full, spec: with(begin)}}})
	}
	for i := range out {
		out[i].prepare = func(s *servers) {
			if _, err := s.bus.JetStream().CreateStream(s.t.Context(), jetstream.StreamConfig{Name: "work", Subjects: []string{"work.*"}}); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return out
}

// tokenScenarios set the namespace that owns the token, since Terraform's
// resources have none. See scenario.namespace for its value.
func tokenScenarios() []scenario {
	sum := sha256.Sum256([]byte(secretWord))
	least := object{"namespace": "team"}
	most := object{
		"namespace": "team", "tenant": "guest", "disabled": true, "expires": "2101-01-31T00:00:00Z", "models": []any{"team/a", "team/*"}, "requestsPerMinute": 60,
		"tokensPerMinute": 6000, "concurrentRequests": 2, "metadata": object{"use": "test"}, "overlap": "1m",
	}
	other := object{
		"namespace": "team", "tenant": "guests", "disabled": false, "expires": "2102-01-31T00:00:00Z", "models": []any{"team/b"}, "requestsPerMinute": 61,
		"tokensPerMinute": 6001, "concurrentRequests": 3, "metadata": object{"use": "more"}, "overlap": "2m",
	}
	out := standardScenarios("token", "tokens", least, most, other)
	for i := range out {
		out[i].secret = secretWord
		out[i].manifest = object{"secretRef": object{"name": secretName}}
		out[i].terraform = object{"secret_wo": secretWord}
	}
	elsewhere := object{"namespace": "team", "sha256": hex.EncodeToString(sum[:]), "bucket": "elsewhere", "prefix": "tokens/"}
	out = append(out, scenario{resource: "token", plural: "tokens", name: "Elsewhere", steps: []step{{name: full, spec: elsewhere}}})
	for i := range out {
		if out[i].terraform == nil {
			out[i].terraform = object{}
		}
		out[i].terraform["name"] = resourceName
		out[i].prepare = func(s *servers) {
			if err := s.bus.Ensure(s.t.Context()); err != nil {
				s.t.Fatal(err)
			}
			if _, err := s.bus.JetStream().CreateKeyValue(s.t.Context(), jetstream.KeyValueConfig{Bucket: "elsewhere"}); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return out
}

func modelScenarios() []scenario {
	const url, source, commit = "s3://models/org/tiny/q40", "hf://org/tiny", "0123456789abcdef0123456789abcdef01234567"
	record := standardScenarios("model_record", "modelrecords",
		object{"namespace": "team", "name": "tiny"},
		object{"namespace": "team", "name": "tiny", "artifactUrl": url},
		object{"namespace": "team", "name": "tiny", "sizeBytes": 1000, "weights": "q40"})
	member := standardScenarios("model_record", "modelrecords",
		object{"namespace": "team", "name": "chat", "group": "ring"},
		object{"namespace": "team", "name": "chat", "group": "ring", "weight": 90, "fallback": true},
		object{"namespace": "team", "name": "chat", "group": "ring", "weight": 0})
	for i := range member {
		member[i].name += "Member"
	}
	artifact := standardScenarios("model_artifact", "modelartifacts",
		object{"url": url},
		object{"url": url, "source": source, "commit": commit, "progressKey": "fetch.tiny", "verify": "once"},
		object{"url": url, "source": source, "progressKey": "fetch.tiny", "verify": "twice"})
	out := slices.Concat(record, member, artifact)
	for i := range out {
		out[i].prepare = model
	}
	return out
}

// model writes the files of a converted model, and the progress of its job.
func model(s *servers) {
	s.t.Helper()
	ctx := s.t.Context()
	check := func(err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
	}
	_, err := s.store.CreateBucket(ctx, &awss3.CreateBucketInput{Bucket: aws.String("models")})
	check(err)
	store, err := s3.New(s.store, "models", "org/tiny/q40")
	check(err)
	m := manifest.Manifest{Kind: manifest.Converted, Name: "tiny", Weights: "q40", Origin: manifest.Origin{Source: "hf://org/tiny", Commit: "0123456789abcdef0123456789abcdef01234567"}}
	for name, body := range map[string]string{"dllama_model_tiny_q40.m": "weights", "dllama_tokenizer_tiny.t": "words"} {
		check(store.Put(ctx, name, []byte(body)))
		sum := sha256.Sum256([]byte(body))
		m.Files = append(m.Files, manifest.File{Path: name, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:])})
	}
	check(manifest.Save(ctx, store, m))
	check(s.bus.Ensure(ctx))
	_, err = registry.Progress(s.bus).Put(ctx, "fetch.tiny", progress.Report{Stage: "fetch"})
	check(err)
}
