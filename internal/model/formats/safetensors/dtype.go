package safetensors

// A DType is the type of a tensor's values, as in the file.
type DType string

// The types that weights are converted from.
const (
	F32  DType = "F32"
	F16  DType = "F16"
	BF16 DType = "BF16"
)

// bits is the number of bits of one value (safetensors, enum Dtype).
var bits = map[DType]int64{
	"BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
	"I16": 16, "U16": 16, F16: 16, BF16: 16,
	"I32": 32, "U32": 32, F32: 32,
	"F64": 64, "I64": 64, "U64": 64, "C64": 64,
	"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}

// Size returns the size of one value in bytes, and 0 for unknown types and
// types smaller than a byte.
func (d DType) Size() int64 { return bits[d] / 8 }
