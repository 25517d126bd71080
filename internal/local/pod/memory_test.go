package pod

import (
	"testing"

	"github.com/gorizond/koldun/internal/fault"
)

func TestMemoryLimit(t *testing.T) {
	limited := func(limits ...any) (s Spec) {
		for _, l := range limits {
			s.Containers = append(s.Containers, Container{Name: "c", Resources: Resources{Limits: map[string]any{"memory": l}}})
		}
		return s
	}
	for name, c := range map[string]struct {
		spec Spec
		want int64
	}{
		"None":    {Spec{Containers: []Container{{}}}, 0},
		"Binary":  {limited("12Mi"), 12 << 20},
		"Decimal": {limited("1.5G"), 1_500_000_000},
		"Plain":   {limited("1024"), 1024},
		"Number":  {limited(float64(1 << 31)), 1 << 31},
		"Milli":   {limited("2000m"), 2},
		"Sum":     {limited("1Ki", "2Ki"), 3 << 10},
		"Huge":    {limited("9E", "9E"), 1 << 62},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := c.spec.MemoryLimit(); got != c.want || err != nil {
				t.Errorf("got %d, %v, want %d", got, err, c.want)
			}
		})
	}
	for _, text := range []any{"", "x", "1Mii", "-1", "1 Gi", true} {
		if got, err := limited(text).MemoryLimit(); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v is read as %d, %v", text, got, err)
		}
	}
}
