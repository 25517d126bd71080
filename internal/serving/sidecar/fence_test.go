package sidecar

import "testing"

func TestFence(t *testing.T) {
	f := fence{}
	for i, c := range []struct {
		epoch, seq uint64
		synced     bool // what is set before
		want       bool
		wantSynced bool
	}{
		{epoch: 5, seq: 1, want: true},
		{epoch: 5, seq: 1, want: false},
		{epoch: 5, seq: 3, synced: true, want: true, wantSynced: true},
		{epoch: 5, seq: 2, synced: true, want: false, wantSynced: true},
		{epoch: 4, seq: 9, synced: true, want: false, wantSynced: true},
		{epoch: 6, seq: 1, synced: true, want: true, wantSynced: false},
		{epoch: 5, seq: 9, want: false},
	} {
		f.synced = c.synced
		if got := f.pass(c.epoch, c.seq); got != c.want || f.synced != c.wantSynced {
			t.Errorf("message %d: pass(%d, %d) = %t, synced %t; want %t, %t", i, c.epoch, c.seq, got, f.synced, c.want, c.wantSynced)
		}
	}
	if f.epoch != 6 || f.seq != 1 {
		t.Errorf("the fence stands at %d, %d; want 6, 1", f.epoch, f.seq)
	}
}
