package topology

import "github.com/gorizond/koldun/internal/fault"

// A FloatType is the type of weights or of the buffers between nodes.
type FloatType string

// The float types. Q40 and Q80 are blocks of 32 values with one scale.
const (
	F32 FloatType = "f32"
	F16 FloatType = "f16"
	Q40 FloatType = "q40"
	Q80 FloatType = "q80"
)

// Block is the number of values that share one scale in Q40 and Q80.
const Block = 32

// ParseFloatType reads the name of a float type. The error is Invalid.
func ParseFloatType(s string) (FloatType, error) {
	switch t := FloatType(s); t {
	case F32, F16, Q40, Q80:
		return t, nil
	}
	return "", fault.Errorf(fault.Invalid, "float type %q is not one of f32, f16, q40, q80", s)
}

// Bytes is the size of n values. For Q40 (2 bytes of scale and 16 of values
// per block) and Q80 (2 and 32), n counts whole blocks: the remainder of a
// division by Block is dropped.
func (t FloatType) Bytes(n int64) int64 {
	switch t {
	case F32:
		return 4 * n
	case F16:
		return 2 * n
	case Q40:
		return n / Block * 18
	case Q80:
		return n / Block * 34
	}
	return 0
}

// Blocked reports whether values come in blocks.
func (t FloatType) Blocked() bool { return t == Q40 || t == Q80 }

// SyncFor is the type of the buffers between nodes that runs with weights of
// type t: q80 for q40, f32 for f32. No other pair runs; the error is
// Unsupported.
func SyncFor(t FloatType) (FloatType, error) {
	switch t {
	case Q40:
		return Q80, nil
	case F32:
		return F32, nil
	}
	return "", fault.Errorf(fault.Unsupported, "weights of type %q can be stored but not run: only q40 and f32 can", t)
}
