package managed_test

import (
	"testing"

	"github.com/gorizond/koldun/functions/managed"
)

// Buckets and streams are shared: a description without replicas leaves their
// number alone.
func TestReplicasAreLeftAlone(t *testing.T) {
	for _, b := range managed.KeyValues(0) {
		if b.Replicas != 0 {
			t.Errorf("bucket %q has %d replicas, want 0", b.Bucket, b.Replicas)
		}
	}
	for _, want := range []int32{0, 3} {
		for _, s := range managed.Streams(1<<20, want) {
			if s.Replicas != want {
				t.Errorf("stream %q has %d replicas, want %d", s.Name, s.Replicas, want)
			}
		}
	}
}
