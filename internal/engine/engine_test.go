package engine_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/fault"
)

func TestCheckNodes(t *testing.T) {
	for name, c := range map[string]struct {
		most, nodes int
		want        string
	}{
		"One":       {1, 1, ""},
		"TwoForOne": {1, 2, "the toy engine runs on 1 node, not on 2"},
		"Three":     {3, 3, ""},
		"TooMany":   {3, 4, "the toy engine runs on 3 nodes, not on 4"},
		"AnyNumber": {0, 1024, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := engine.Engine{Name: "toy", MaxNodes: c.most}.CheckNodes(c.nodes)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want || err != nil && !fault.Is(err, fault.Invalid) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWithSlots(t *testing.T) {
	own := engine.Engine{Name: "toy", Slots: 4, MaxSlots: 32}
	for name, c := range map[string]struct {
		e     engine.Engine
		n     int
		slots int
		want  string
	}{
		"Own":      {own, 0, 4, ""},
		"One":      {own, 1, 1, ""},
		"Most":     {own, 32, 32, ""},
		"TooMany":  {own, 33, 4, "the toy engine has 1 to 32 slots, not 33"},
		"Negative": {own, -1, 4, "the toy engine has 1 to 32 slots, not -1"},
		"Fixed":    {engine.Engine{Name: "toy", Slots: 1}, 2, 1, "the toy engine computes 1 request at a time: leave it out"},
		"FixedOwn": {engine.Engine{Name: "toy", Slots: 1}, 0, 1, ""},
		"Server":   {engine.Engine{Name: "toy", Slots: 1, API: &engine.API{}}, 2, 1, "it has no effect on a server: use the slots of the server"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := c.e.WithSlots(c.n)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want || e.Slots != c.slots || err != nil && !fault.Is(err, fault.Invalid) {
				t.Errorf("got %d slots and %q, want %d and %q", e.Slots, got, c.slots, c.want)
			}
		})
	}
}
