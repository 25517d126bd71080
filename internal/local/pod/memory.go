package pod

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// MemoryLimit returns the bytes that all containers of a pod may take together.
// Containers without a limit count as 0.
func (s Spec) MemoryLimit() (int64, error) {
	var sum float64
	for _, c := range s.Containers {
		limit, ok := c.Resources.Limits["memory"]
		if !ok {
			continue
		}
		n, err := quantity(limit)
		if err != nil {
			return 0, fault.Errorf(fault.Invalid, "container %q: %w", c.Name, err)
		}
		sum += n
	}
	return int64(min(sum, math.MaxInt64/2)), nil
}

// units are the suffixes of quantities in Kubernetes.
func units() map[string]float64 {
	return map[string]float64{
		"m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
		"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60,
	}
}

func quantity(v any) (float64, error) {
	text := fmt.Sprint(v)
	if raw, err := json.Marshal(v); err == nil && len(raw) > 0 && raw[0] != '"' {
		text = string(raw)
	}
	number := strings.TrimRight(text, "mkKMGTPEi")
	n, err := strconv.ParseFloat(number, 64)
	unit, known := units()[strings.TrimPrefix(text, number)]
	if err != nil || !known || n < 0 {
		return 0, fault.Errorf(fault.Invalid, "%q is no amount of memory", text)
	}
	return n * unit, nil
}
