package outside_test

import (
	"testing"

	"github.com/gorizond/koldun/functions/outside"
)

// Buckets and streams are shared, so nobody who says nothing of copies changes
// how many there are.
func TestCopiesAreLeftAlone(t *testing.T) {
	for _, b := range outside.KeyValues() {
		if b.Replicas != 0 {
			t.Errorf("bucket %q is to have %d copies", b.Bucket, b.Replicas)
		}
	}
	for _, want := range []int32{0, 3} {
		for _, s := range outside.Streams(1<<20, want) {
			if s.Replicas != want {
				t.Errorf("stream %q is to have %d copies, want %d", s.Name, s.Replicas, want)
			}
		}
	}
}
