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
