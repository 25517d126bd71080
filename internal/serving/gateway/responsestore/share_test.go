package responsestore

import (
	"testing"
	"time"
)

func TestShare(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	until := expiry(now, time.Hour)
	if least := now.Add(time.Hour).Unix(); until < least || until > least+3600/steps {
		t.Errorf("what is stored for an hour counts until %d s, want %d and little more", until, least)
	}
	s := share{}.with(100, until, now).with(50, until, now).with(7, until+10, now)
	if s.bytes() != 157 || len(s.Used) != 2 || s.life(now) != time.Duration(until+10-now.Unix())*time.Second {
		t.Errorf("got %+v for %v", s, s.life(now))
	}
	if s := s.with(-200, until, now); s.bytes() != 7 {
		t.Errorf("more is given back than was taken: %+v", s)
	}
	if s := s.with(1, until+20, time.Unix(until, 0)); s.bytes() != 8 {
		t.Errorf("what has expired counts: %+v", s)
	}
	if s := (share{}).with(-1, until, now); len(s.Used) != 0 {
		t.Errorf("nothing is given back to an empty share: %+v", s)
	}
	entries := share{}
	for i := range 100_000 {
		at := now.Add(time.Duration(i) * time.Second)
		entries = entries.with(1, expiry(at, time.Hour), at)
	}
	if len(entries.Used) > steps+2 {
		t.Errorf("a share has %d entries", len(entries.Used))
	}
}
