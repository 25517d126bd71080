package queue

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
)

func TestConfirmed(t *testing.T) {
	for answer, want := range map[string]struct {
		seq   uint64
		plain bool
	}{
		`{"stream":"S","seq":1}`:                    {1, true},
		`{"stream":"S","seq":1203}`:                 {1203, true},
		`{"stream":"S", "seq":12}`:                  {12, true},
		`{"stream":"S","domain":"hub","seq":12}`:    {12, false},
		`{"stream":"S","seq":12,"duplicate": true}`: {12, false},
	} {
		if seq, err := confirmed([]byte(answer), "S"); err != nil || seq != want.seq {
			t.Errorf("%s: %d, %v", answer, seq, err)
		}
		if _, plain := plainSequence([]byte(answer), "S"); plain != want.plain {
			t.Errorf("%s: plain is %v", answer, plain)
		}
	}
	for _, answer := range []string{
		``, `{}`, `{"stream":"S"}`, `{"stream":"S","seq":0}`, `{"stream":"S","seq":}`, `{"stream":"S","seq":1`, `{"stream":"S","seq":1}}`,
		`{"stream":"SS","seq":1}`, `{"stream":"","seq":1}`, `{"stream":"S","seq":-1}`, `{"stream":"S","seq":1e}`, `{"stream":"S","seq":18446744073709551616}`,
	} {
		if _, err := confirmed([]byte(answer), "S"); !fault.Is(err, fault.Transient) {
			t.Errorf("%s: %v", answer, err)
		}
	}
	_, err := confirmed([]byte(`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 3"},"stream":"S","seq":0}`), "S")
	if e := (*jetstream.APIError)(nil); !errors.As(err, &e) || e.ErrorCode != 10071 {
		t.Errorf("got %v", err)
	}
}
