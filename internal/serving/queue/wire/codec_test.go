package wire_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/queue/wire"
)

// samples are messages of each kind: empty, with all fields, and with unusual
// values.
func samples() map[string]wire.Message {
	at := time.Date(2026, 11, 21, 20, 1, 2, 345678901, time.UTC)
	abroad := at.In(time.FixedZone("", -3*3600-1800))
	request := queue.Request{
		ID: "req_1", Session: "s", Tenant: "anonymous", Model: "default/tiny", Created: at, Deadline: abroad, EndBy: at, Timeout: time.Minute,
		Affinity: "a", Priority: queue.PriorityHigh, ReplayOf: "req_0", Traceparent: "00-1-2-01", Strict: true, Operation: openai.OperationCompletion, Features: "json_schema,tools",
		Body: json.RawMessage(`{"messages":[{"role":"user","content":"}}\"\\"}],"n":1}`),
	}
	failure := &queue.Failure{Code: queue.CodeTimeout, Message: "жук", Param: "p", RetryAfter: 30}
	usage := queue.Usage{PromptTokens: 1, CompletionTokens: 2, CachedTokens: new(0), ReasoningTokens: new(3)}
	standing := queue.RunnerStatus{Instance: "i", Version: 3, State: queue.RunnerBusy, Affinity: "a", Busy: 2, Affinities: []string{"a", "b"}}
	end := queue.AttemptEnd{
		Request: "req_1", Epoch: 1795259777000000, Attempt: 1, Runner: "r0", Started: at, FirstToken: at, Ended: abroad,
		FinishReason: "stop", Usage: usage, Error: failure,
	}
	delta := func(text string) *queue.Frame {
		return &queue.Frame{Request: "req_1", Epoch: 3, Attempt: 1, Seq: 1, Kind: queue.FrameDelta, Text: text}
	}
	return map[string]wire.Message{
		"Request":      &request,
		"EmptyRequest": &queue.Request{},
		"Assignment":   &queue.Assignment{Attempt: 1, Epoch: 2, Seq: 3, Instance: "i", Request: request},
		"EmptyAssign":  &queue.Assignment{Request: queue.Request{Body: json.RawMessage(`{}`)}},
		"Accepted":     &queue.AssignmentReply{Accepted: true, RunnerStatus: standing},
		"Refused":      &queue.AssignmentReply{Reason: queue.RefusedBusy, Epoch: 7, RunnerStatus: standing},
		"RunnerStatus": &standing,
		"FirstToken":   &queue.FirstToken{Request: "req_1", Epoch: 1, Attempt: 2, Runner: "r", Instance: "i"},
		"Ack":          &queue.Ack{OK: true},
		"AckNot":       &queue.Ack{Reason: "not yours"},
		"Started":      &queue.Frame{Request: "req_1", Epoch: 9, Attempt: 1, Kind: queue.FrameStarted, Ignored: []string{"top_p", `"`, "seed"}, Member: "canary"},
		"Text":         delta(" hello"),
		"Unicode":      delta("жук 😀"),
		"Separators":   delta("\u2028 \u2029 …"),
		"Escapes":      delta("\"\\\n\x00<b>&\x7f"),
		"NotUTF8":      delta("a\xff\xfe\xe2"),
		"EmptyText":    delta(""),
		"NoEpoch":      &queue.Frame{Request: "req_1", Attempt: 1, Kind: queue.FrameDelta, Text: "x"},
		"HugeEpoch":    &queue.Frame{Request: "req_1", Epoch: 1<<64 - 1, Attempt: 1, Kind: queue.FrameDelta, Text: "x"},
		"Raw":          &queue.Frame{Request: "req_1", Epoch: 3, Attempt: 1, Seq: 1, Kind: queue.FrameDelta, Text: "x", Raw: json.RawMessage(`{"tool_calls":[{"a":"}"}]}`)},
		"RawNull":      &queue.Frame{Request: "req_1", Attempt: 1, Kind: queue.FrameDelta, Raw: json.RawMessage(`null`)},
		"Queued":       &queue.Frame{Request: "req_1", Attempt: 1, Seq: -1, Kind: queue.FrameQueued, Position: 3, Wait: time.Second},
		"End":          &queue.Frame{Request: "req_1", Epoch: 9, Attempt: 1, Seq: 8, Kind: queue.FrameEnd, FinishReason: "stop", Usage: &usage},
		"Error":        &queue.Frame{Request: "req\"1", Attempt: 1, Kind: queue.FrameError, Error: failure},
		"Usage":        &usage,
		"Failure":      failure,
		"AttemptEnd":   &end,
		"EmptyEnd":     &queue.AttemptEnd{},
		"EndReport":    &queue.EndReport{AttemptEnd: end, Status: standing},
		"Outcome": &queue.Outcome{
			Request: "req_1", Session: "s", Tenant: "t", Model: "m", State: queue.Failed, Priority: queue.PriorityLow, Attempts: 3, Runner: "r", Group: "g", Created: at,
			Started: at, First: at, Ended: at, Usage: usage, Error: failure, Reasons: []string{"a", "b"}, Dead: true, ReplayOf: "req_0",
		},
		"EmptyOutcome": &queue.Outcome{},
	}
}

// A field that no sample sets could be missing in the codec unnoticed.
func TestSamplesSetAllFields(t *testing.T) {
	set := map[string]bool{} // by type and field
	var look func(v reflect.Value)
	look = func(v reflect.Value) {
		switch {
		case v.Kind() == reflect.Pointer && !v.IsNil():
			look(v.Elem())
		case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
			for f, field := range v.Fields() {
				name := v.Type().Name() + "." + f.Name
				set[name] = set[name] || !field.IsZero()
				look(field)
			}
		}
	}
	for _, m := range samples() {
		look(reflect.ValueOf(m))
	}
	for name, ok := range set {
		if !ok {
			t.Errorf("no sample sets %s", name)
		}
	}
}

// blank returns an empty message of the same kind.
func blank(m wire.Message) wire.Message {
	return reflect.New(reflect.TypeOf(m).Elem()).Interface().(wire.Message)
}

// The fast encoder writes what encoding/json writes, and the fast decoder reads
// it.
func TestCodec(t *testing.T) {
	slow := map[string]bool{"HugeEpoch": true} // encoding/json decodes these
	for name, m := range samples() {
		t.Run(name, func(t *testing.T) {
			want, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			got, err := wire.Encode(m)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Error(d)
			}
			same(t, got, m)
			if wire.Decode(got, blank(m)) == slow[name] {
				t.Errorf("%s is read by the fast decoder: %t", got, !slow[name])
			}
		})
	}
}

func TestEncodeRefusesWhatJSONRefuses(t *testing.T) {
	for name, m := range map[string]wire.Message{
		"Body": &queue.Request{Body: json.RawMessage(`{"a":`)},
		"Raw":  &queue.Frame{Raw: json.RawMessage(`{"a":`)},
		"Year": &queue.Outcome{Created: time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if data, err := wire.Encode(m); err == nil {
			t.Errorf("%s: encoded as %s, want an error", name, data)
		}
	}
}

// Unmarshal clears the previous values of fields that the data lacks.
func TestDecodeForgetsWhatItExpected(t *testing.T) {
	for _, data := range []string{`{"attempt":1,"seq":2,"kind":"end"}`, ` {"attempt":1,"seq":2,"kind":"end"}`} {
		got := queue.Frame{Request: "req_1", Kind: queue.FrameDelta}
		if err := wire.Unmarshal([]byte(data), &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(queue.Frame{Attempt: 1, Seq: 2, Kind: queue.FrameEnd}, got); d != "" {
			t.Error(d)
		}
	}
}

// same checks that the fast decoder, if it accepts data, returns what
// encoding/json returns.
func same(t *testing.T, data []byte, kind wire.Message) {
	t.Helper()
	got, want := blank(kind), blank(kind)
	if !wire.Decode(data, got) {
		return
	}
	if err := json.Unmarshal(data, want); err != nil {
		t.Fatalf("the fast decoder accepts %q, which is no %T: %v", data, want, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%q: %s", data, d)
	}
}

// For any input, the fast decoder returns what encoding/json returns.
func FuzzDecode(f *testing.F) {
	all := samples()
	for _, m := range all {
		data, _ := json.Marshal(m)
		f.Add(data)
	}
	f.Add([]byte(`{"ended":""0`))
	f.Add([]byte(`{"request":"a","attempt":01,"seq":0,"kind":"delta","text":"x"}`))
	f.Add([]byte(`{"request":"a","attempt":-0,"seq":-1,"kind":"delta","text":"x","text":"y"}`))
	f.Add([]byte(`{"request":"a","epoch":-1,"attempt":1,"seq":0,"kind":"started","ignored":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, m := range all {
			same(t, data, m)
		}
	})
}

// For any message, the fast encoder writes what encoding/json writes.
func FuzzEncode(f *testing.F) {
	f.Add("a", "жук", int64(1), uint64(2), true, int64(3), `{"a":1}`)
	f.Add("\xff\u2028", "<", int64(-1), uint64(0), false, int64(-1<<60), `[`)
	f.Fuzz(func(t *testing.T, a, b string, n int64, u uint64, flag bool, at int64, body string) {
		when := time.Unix(at, n).UTC()
		failure, usage := &queue.Failure{Code: a, Message: b}, queue.Usage{PromptTokens: int(n), CompletionTokens: int(u)}
		standing := queue.RunnerStatus{Instance: a, Version: u, State: queue.RunnerState(b)}
		end := queue.AttemptEnd{Request: a, Epoch: u, Runner: b, Ended: when, Usage: usage, Error: failure}
		for _, m := range []wire.Message{
			&queue.Request{ID: a, Session: b, Created: when, Timeout: time.Duration(n), Strict: flag, Operation: openai.Operation(b), Features: openai.Features(a), Body: json.RawMessage(body)},
			&queue.AssignmentReply{Accepted: flag, Reason: a, RunnerStatus: standing},
			&queue.EndReport{AttemptEnd: end, Status: standing},
			&queue.Frame{Request: a, Epoch: u, Seq: int(n), Text: b, Usage: &usage, Error: failure, Ignored: strings.Fields(b), Raw: json.RawMessage(body)},
			&queue.Outcome{Request: a, Attempts: int(n), Created: when, Reasons: []string{a, b}, Dead: flag, Error: failure},
		} {
			want, failed := json.Marshal(m)
			got, err := wire.Encode(m)
			if (err == nil) != (failed == nil) || err == nil && string(want) != string(got) {
				t.Errorf("written as %s (%v), want %s (%v)", got, err, want, failed)
			}
		}
	})
}

func BenchmarkCodec(b *testing.B) {
	all := samples()
	for _, name := range []string{"Text", "Unicode", "Raw", "Request", "EndReport"} {
		m := all[name]
		data, _ := wire.Encode(m)
		b.Run("Encode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = wire.Encode(m)
			}
		})
		b.Run("Decode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			m := blank(m)
			for b.Loop() {
				wire.Decode(data, m)
			}
		})
		b.Run("Unmarshal/"+name, func(b *testing.B) {
			b.ReportAllocs()
			m := blank(m)
			for b.Loop() {
				_ = json.Unmarshal(data, m)
			}
		})
	}
}
