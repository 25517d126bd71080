package parity

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// hold returns everything on the servers, by path, without times of writing
// and writers.
func (s *servers) contents() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	s.streams(func(info *jetstream.StreamInfo) {
		path := "stream " + info.Config.Name
		flatten(out, path, info.Config)
		stream, err := s.bus.JetStream().Stream(s.t.Context(), info.Config.Name)
		if err != nil {
			s.t.Fatal(err)
		}
		consumers := stream.ListConsumers(s.t.Context())
		for c := range consumers.Info() {
			if c.Config.Durable == "" {
				continue // the ephemeral consumer of a watch
			}
			flatten(out, path+" consumer "+c.Name, c.Config)
		}
		if consumers.Err() != nil {
			s.t.Fatal(consumers.Err())
		}
		if bucket, ok := strings.CutPrefix(info.Config.Name, "KV_"); ok {
			s.entries(out, bucket)
		}
	})
	s.buckets(out)
	s.nodes(out)
	s.accounts(out)
	return out
}

// entries adds the keys of a bucket with their values.
func (s *servers) entries(out map[string]string, bucket string) {
	s.t.Helper()
	kv, err := s.bus.JetStream().KeyValue(s.t.Context(), bucket)
	if err != nil {
		s.t.Fatal(err)
	}
	keys, err := kv.Keys(s.t.Context())
	if err != nil && !errors.Is(err, jetstream.ErrNoKeysFound) {
		s.t.Fatal(err)
	}
	for _, key := range keys {
		e, err := kv.Get(s.t.Context(), key)
		if err != nil {
			s.t.Fatal(err)
		}
		var v any
		if json.Unmarshal(e.Value(), &v) != nil {
			v = string(e.Value())
		}
		flatten(out, "bucket "+bucket+" key "+key, v)
	}
}

// writes returns the last sequence of each stream.
func (s *servers) writes() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	s.streams(func(info *jetstream.StreamInfo) {
		out["writes to "+info.Config.Name] = fmt.Sprint(info.State.LastSeq)
	})
	return out
}

func (s *servers) streams(visit func(*jetstream.StreamInfo)) {
	s.t.Helper()
	list := s.bus.JetStream().ListStreams(s.t.Context())
	for info := range list.Info() {
		visit(info)
	}
	if list.Err() != nil {
		s.t.Fatal(list.Err())
	}
}

// flatten adds the leaves of a value, encoded as JSON, by path.
func flatten(out map[string]string, path string, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		out[path] = err.Error()
		return
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		out[path] = err.Error()
		return
	}
	leaves(out, path, "", plain)
}

func leaves(out map[string]string, path, name string, v any) {
	switch x := v.(type) {
	case map[string]any:
		if len(x) == 0 {
			out[path] = "{}"
		}
		for k, e := range x {
			leaves(out, path+"."+k, k, e)
		}
	case []any:
		if len(x) == 0 {
			out[path] = "[]"
		}
		for i, e := range x {
			leaves(out, fmt.Sprintf("%s[%d]", path, i), name, e)
		}
	default:
		raw, _ := json.Marshal(x) // it came from JSON
		out[path] = plainly(name, string(raw), x)
	}
}

// plainly returns a leaf, with a placeholder for values that differ in every run.
func plainly(name, raw string, v any) string {
	text, _ := v.(string)
	if _, err := time.Parse(time.RFC3339, text); err == nil && (name == "created" || name == "written") {
		return "a time"
	}
	if seq, ok := v.(float64); ok && name == "first_seq" && seq > 1 {
		return "the time of creation" // see internal/nats/bus
	}
	if name == "owner" && text != "" {
		return "an owner" // each manager names its resources differently
	}
	return raw
}
