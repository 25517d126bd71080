package pool

import v1 "github.com/gorizond/koldun/apis/composite/v1"

// MaxMembers is the largest pool.
const MaxMembers = 64

// What the fields that a Scaling leaves out mean. Without maxDllamas, a pool may
// grow to MaxMembers.
const (
	defaultMinDllamas           = 1
	defaultScaleUpBacklog       = 1
	defaultScaleDownIdleSeconds = 300
)

// A Size is how many members a pool has, at least and at most.
type Size struct{ Min, Max int32 }

// SizeOf returns the size that the fields ask for.
func SizeOf(s v1.Scaling, t *v1.Traffic) Size {
	out := Size{Min: defaultMinDllamas, Max: s.MaxDllamas}
	if n := s.MinDllamas; n != nil {
		out.Min = *n
	}
	if out.Max <= 0 || out.Max > MaxMembers {
		out.Max = MaxMembers
	}
	out.Min = min(out.Min, out.Max)
	if t != nil && t.Weight != nil && *t.Weight == 0 {
		out.Max = out.Min // more of them would take nothing, either
	}
	if n := s.DesiredDllamas; n != nil {
		out = Size{Min: min(*n, MaxMembers), Max: min(*n, MaxMembers)}
	}
	return out
}
