package bus

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFrameCodec(t *testing.T) {
	frames := map[string]Frame{
		"Text":      {Request: "req_1", Epoch: 1795259777000000, Attempt: 2, Seq: 17, Kind: FrameDelta, Text: " hello"},
		"NoEpoch":   {Request: "req_1", Attempt: 1, Kind: FrameDelta, Text: "x"},
		"HugeEpoch": {Request: "req_1", Epoch: 1<<64 - 1, Attempt: 1, Kind: FrameDelta, Text: "x"},
		"Unicode":   {Request: "req_1", Epoch: 3, Attempt: 1, Seq: 1, Kind: FrameDelta, Text: "жук 😀 \u2028"},
		"Escapes":   {Request: "req_1", Epoch: 3, Attempt: 1, Seq: 1, Kind: FrameDelta, Text: "\"\\\n\x00<b>&\x7f"},
		"Empty":     {Request: "req_1", Epoch: 3, Attempt: 1, Seq: 1, Kind: FrameDelta},
		"Dispatch":  {Request: "req_1", Attempt: 1, Seq: -1, Kind: FrameQueued, Position: 3},
		"End":       {Request: "req_1", Epoch: 9, Attempt: 1, Seq: 8, Kind: FrameEnd, FinishReason: "stop", Usage: &Usage{1, 2}},
		"OddID":     {Request: "req\"1", Attempt: 1, Kind: FrameDelta, Text: "x"},
	}
	for name, f := range frames {
		t.Run(name, func(t *testing.T) {
			got, err := appendFrame(nil, f)
			if err != nil {
				t.Fatal(err)
			}
			want, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Error(d)
			}
			back, err := decodeFrame(got, f.Request)
			if d := cmp.Diff(f, back); d != "" || err != nil {
				t.Error(err, d)
			}
		})
	}
}

// Whatever comes, the quick way reads what encoding/json would.
func FuzzFrameCodec(f *testing.F) {
	f.Add([]byte(`{"request":"a","epoch":1,"attempt":1,"seq":0,"kind":"delta","text":"x"}`))
	f.Add([]byte(`{"request":"a","attempt":01,"seq":0,"kind":"delta","text":"x"}`))
	f.Add([]byte(`{"request":"a","attempt":1,"seq":0,"kind":"delta","text":"x","text":"y"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		quick, ok := quickFrame(data, "a")
		if !ok {
			return
		}
		var slow Frame
		if err := json.Unmarshal(data, &slow); err != nil {
			t.Fatalf("%q is read though it is no JSON: %v", data, err)
		}
		if d := cmp.Diff(slow, quick); d != "" {
			t.Error(d)
		}
	})
}

func BenchmarkFrame(b *testing.B) {
	f := Frame{Request: "req_06GZVVHWS8DZP9VMSB3VX423RC", Epoch: 1795259777000000, Attempt: 1, Seq: 1234, Kind: FrameDelta, Text: " hello"}
	b.Run("Encode", func(b *testing.B) {
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			buf, _ = appendFrame(buf[:0], f)
		}
	})
	data, _ := appendFrame(nil, f)
	b.Run("Decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = decodeFrame(data, f.Request)
		}
	})
}
