package bus

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// samples are messages of each kind, with nothing, with all fields and with odd ones.
func samples() map[string]message {
	at := time.Date(2026, 11, 21, 20, 1, 2, 345678901, time.UTC)
	abroad := at.In(time.FixedZone("", -3*3600-1800))
	request := Request{
		ID: "req_1", Session: "s", Tenant: "anonymous", Model: "default/tiny", Created: at, Deadline: abroad, Timeout: time.Minute,
		Affinity: "a", Priority: PriorityHigh, ReplayOf: "req_0", Traceparent: "00-1-2-01", Strict: true,
		Body: json.RawMessage(`{"messages":[{"role":"user","content":"}}\"\\"}],"n":1}`),
	}
	failure := &Failure{Code: CodeTimeout, Message: "жук", Param: "p"}
	usage := Usage{PromptTokens: 1, CompletionTokens: 2}
	standing := Standing{Instance: "i", Version: 3, State: RunnerBusy, Affinity: "a"}
	end := AttemptEnd{
		Request: "req_1", Epoch: 1795259777000000, Attempt: 1, Runner: "r0", Started: at, FirstToken: at, Ended: abroad,
		FinishReason: "stop", Usage: usage, Error: failure,
	}
	delta := func(text string) *Frame {
		return &Frame{Request: "req_1", Epoch: 3, Attempt: 1, Seq: 1, Kind: FrameDelta, Text: text}
	}
	return map[string]message{
		"Request":      &request,
		"EmptyRequest": &Request{},
		"Assignment":   &Assignment{Attempt: 1, Epoch: 2, Seq: 3, Instance: "i", Request: request},
		"EmptyAssign":  &Assignment{Request: Request{Body: json.RawMessage(`{}`)}},
		"Accepted":     &AssignmentReply{Accepted: true, Standing: standing},
		"Refused":      &AssignmentReply{Reason: RefusedBusy, Epoch: 7, Standing: standing},
		"Standing":     &standing,
		"Mark":         &Mark{Request: "req_1", Epoch: 1, Attempt: 2, Runner: "r"},
		"Ack":          &Ack{OK: true},
		"AckNot":       &Ack{Reason: "not yours"},
		"Started":      &Frame{Request: "req_1", Epoch: 9, Attempt: 1, Kind: FrameStarted, Ignored: []string{"top_p", `"`, "seed"}},
		"Text":         delta(" hello"),
		"Unicode":      delta("жук 😀"),
		"Separators":   delta("\u2028 \u2029 …"),
		"Escapes":      delta("\"\\\n\x00<b>&\x7f"),
		"NotUTF8":      delta("a\xff\xfe\xe2"),
		"EmptyText":    delta(""),
		"NoEpoch":      &Frame{Request: "req_1", Attempt: 1, Kind: FrameDelta, Text: "x"},
		"HugeEpoch":    &Frame{Request: "req_1", Epoch: 1<<64 - 1, Attempt: 1, Kind: FrameDelta, Text: "x"},
		"Queued":       &Frame{Request: "req_1", Attempt: 1, Seq: -1, Kind: FrameQueued, Position: 3, Wait: time.Second},
		"End":          &Frame{Request: "req_1", Epoch: 9, Attempt: 1, Seq: 8, Kind: FrameEnd, FinishReason: "stop", Usage: &usage},
		"Error":        &Frame{Request: "req\"1", Attempt: 1, Kind: FrameError, Error: failure},
		"Usage":        &usage,
		"Failure":      failure,
		"AttemptEnd":   &end,
		"EmptyEnd":     &AttemptEnd{},
		"EndReport":    &EndReport{AttemptEnd: end, Standing: standing},
		"Outcome": &Outcome{
			Request: "req_1", Session: "s", Tenant: "t", Model: "m", State: Failed, Priority: PriorityLow, Attempts: 3, Runner: "r", Created: at,
			Started: at, First: at, Ended: at, Usage: usage, Error: failure, Reasons: []string{"a", "b"}, Dead: true, ReplayOf: "req_0",
		},
		"EmptyOutcome": &Outcome{},
	}
}

// blank is a message of the same kind with nothing in it.
func blank(m message) message { return reflect.New(reflect.TypeOf(m).Elem()).Interface().(message) }

// What is written is what encoding/json writes, and is read in the quick way.
func TestCodec(t *testing.T) {
	slow := map[string]bool{"HugeEpoch": true} // which encoding/json reads
	for name, m := range samples() {
		t.Run(name, func(t *testing.T) {
			want, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			got, err := encode(m)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Error(d)
			}
			same(t, got, m)
			if quick(got, blank(m)) == slow[name] {
				t.Errorf("%s is read in the quick way: %t", got, !slow[name])
			}
		})
	}
}

func TestEncodeRefusesWhatJSONRefuses(t *testing.T) {
	for name, m := range map[string]message{
		"Body": &Request{Body: json.RawMessage(`{"a":`)},
		"Year": &Outcome{Created: time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if data, err := encode(m); err == nil {
			t.Errorf("%s: encoded as %s, want an error", name, data)
		}
	}
}

// What is expected and does not come is not read.
func TestDecodeForgetsWhatItExpected(t *testing.T) {
	for _, data := range []string{`{"attempt":1,"seq":2,"kind":"end"}`, ` {"attempt":1,"seq":2,"kind":"end"}`} {
		got := Frame{Request: "req_1", Kind: FrameDelta}
		if err := decode([]byte(data), &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(Frame{Attempt: 1, Seq: 2, Kind: FrameEnd}, got); d != "" {
			t.Error(d)
		}
	}
}

// same reports whether data is read as encoding/json reads it, if the quick way
// reads it at all.
func same(t *testing.T, data []byte, kind message) {
	t.Helper()
	got, want := blank(kind), blank(kind)
	if !quick(data, got) {
		return
	}
	if err := json.Unmarshal(data, want); err != nil {
		t.Fatalf("%q is read though it is no %T: %v", data, want, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%q: %s", data, d)
	}
}

// Whatever comes, the quick way reads what encoding/json would.
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

// Whatever is told, the quick way writes what encoding/json would.
func FuzzEncode(f *testing.F) {
	f.Add("a", "жук", int64(1), uint64(2), true, int64(3), `{"a":1}`)
	f.Add("\xff\u2028", "<", int64(-1), uint64(0), false, int64(-1<<60), `[`)
	f.Fuzz(func(t *testing.T, a, b string, n int64, u uint64, flag bool, at int64, body string) {
		when := time.Unix(at, n).UTC()
		failure, usage := &Failure{Code: a, Message: b}, Usage{int(n), int(u)}
		standing := Standing{Instance: a, Version: u, State: RunnerState(b)}
		end := AttemptEnd{Request: a, Epoch: u, Runner: b, Ended: when, Usage: usage, Error: failure}
		for _, m := range []message{
			&Request{ID: a, Session: b, Created: when, Timeout: time.Duration(n), Strict: flag, Body: json.RawMessage(body)},
			&AssignmentReply{Accepted: flag, Reason: a, Standing: standing},
			&EndReport{AttemptEnd: end, Standing: standing},
			&Frame{Request: a, Epoch: u, Seq: int(n), Text: b, Usage: &usage, Error: failure, Ignored: strings.Fields(b)},
			&Outcome{Request: a, Attempts: int(n), Created: when, Reasons: []string{a, b}, Dead: flag, Error: failure},
		} {
			want, failed := json.Marshal(m)
			got, err := encode(m)
			if (err == nil) != (failed == nil) || err == nil && string(want) != string(got) {
				t.Errorf("written as %s (%v), want %s (%v)", got, err, want, failed)
			}
		}
	})
}

func BenchmarkCodec(b *testing.B) {
	all := samples()
	for _, name := range []string{"Text", "Unicode", "Request", "EndReport"} {
		m := all[name]
		data, _ := encode(m)
		b.Run("Encode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = encode(m)
			}
		})
		b.Run("Decode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			m := blank(m)
			for b.Loop() {
				quick(data, m)
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
