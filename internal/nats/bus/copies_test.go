package bus

import (
	"reflect"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
)

// A spec that says nothing of copies leaves an existing stream or bucket with
// as many as it has, and takes it to be as it should; one that does changes them.
func TestCopiesThatAreNotSpokenOfStay(t *testing.T) {
	of := map[string]func(copies int) jetstream.StreamConfig{
		"stream": func(copies int) jetstream.StreamConfig {
			return StreamSpec{Stream: names.Stream{Name: "S", Subjects: []string{"s.>"}}, Replicas: copies}.config()
		},
		"bucket": func(copies int) jetstream.StreamConfig {
			return KVSpec{Bucket: names.Bucket{Name: "b", Markers: time.Minute}, Replicas: copies}.config()
		},
	}
	for name, config := range of {
		three := config(3)
		if next := replace(three, config(0)); !reflect.DeepEqual(next, three) {
			t.Errorf("the %s of three copies becomes %+v, want no change of %+v", name, next, three)
		}
		if next := replace(three, config(1)); next.Replicas != 1 {
			t.Errorf("the %s of three copies has %d where one is asked for", name, next.Replicas)
		}
	}
}
