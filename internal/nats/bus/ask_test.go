package bus_test

import (
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

func TestAsk(t *testing.T) {
	b := natstest.Start(t).Connect(t)
	for subject, answer := range map[string]func(string, int) (int, bool){
		"test.double": func(_ string, n int) (int, bool) { return 2 * n, true },
		"test.silent": func(string, int) (int, bool) { return 0, false },
	} {
		stop, err := bus.Serve(b, subject, answer)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
	}
	type result struct {
		n    int
		kind fault.Kind
	}
	cases := map[string]struct {
		subject, question string
		want              result
	}{
		"Answered": {"test.double", "21", result{n: 42}},
		"NoAnswer": {"test.silent", "21", result{kind: fault.Transient}},
		"Nobody":   {"test.nobody", "21", result{kind: fault.NotFound}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			within := time.Minute
			if c.want.kind == fault.Transient {
				within = time.Millisecond
			}
			results := make(chan result, 2)
			err := bus.Ask(b, c.subject, []byte(c.question), within, func(n int, err error) { results <- result{n, fault.KindOf(err)} })
			if err != nil {
				t.Fatal(err)
			}
			if got := waittest.Receive(t, "the result is told", results); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	b.Close()
	if err := bus.Ask(b, "test.double", []byte("21"), time.Minute, func(int, error) { t.Error("Ask failed and called the callback") }); err == nil {
		t.Error("Ask succeeds on a closed connection")
	}
}
