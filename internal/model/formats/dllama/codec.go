package dllama

import (
	"encoding/binary"
	"math"

	"github.com/gorizond/koldun/internal/model/topology"
)

// Sizes of one block of 32 values in bytes: a binary16 scale and the values.
const (
	Q40Block = 18
	Q80Block = 34
)

// Encode writes src as t into dst, which must have t.Bytes(len(src)) bytes.
// For q40 and q80, len(src) must be a multiple of 32.
//
// Like distributed-llama's converter, it computes in single precision with one
// rounding per operation, and writes the same bytes.
func Encode(t topology.FloatType, dst []byte, src []float32) {
	checkLengths(t, dst, src)
	switch t {
	case topology.F32:
		for i, f := range src {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(f))
		}
	case topology.F16:
		for i, f := range src {
			binary.LittleEndian.PutUint16(dst[2*i:], F16(f))
		}
	case topology.Q40:
		for i := 0; i < len(src); i += topology.Block {
			EncodeQ40((*[Q40Block]byte)(dst[i/topology.Block*Q40Block:]), (*[topology.Block]float32)(src[i:]))
		}
	case topology.Q80:
		for i := 0; i < len(src); i += topology.Block {
			EncodeQ80((*[Q80Block]byte)(dst[i/topology.Block*Q80Block:]), (*[topology.Block]float32)(src[i:]))
		}
	}
}

// Decode converts the values of type t in src to float32 in dst. The lengths
// must match as for Encode.
func Decode(t topology.FloatType, dst []float32, src []byte) {
	checkLengths(t, src, dst)
	switch t {
	case topology.F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case topology.F16:
		for i := range dst {
			dst[i] = FromF16(binary.LittleEndian.Uint16(src[2*i:]))
		}
	case topology.Q40:
		for i := 0; i < len(dst); i += topology.Block {
			DecodeQ40((*[topology.Block]float32)(dst[i:]), (*[Q40Block]byte)(src[i/topology.Block*Q40Block:]))
		}
	case topology.Q80:
		for i := 0; i < len(dst); i += topology.Block {
			DecodeQ80((*[topology.Block]float32)(dst[i:]), (*[Q80Block]byte)(src[i/topology.Block*Q80Block:]))
		}
	}
}

func checkLengths(t topology.FloatType, raw []byte, values []float32) {
	if t.Blocked() && len(values)%topology.Block != 0 {
		panic("dllama: values are not whole blocks")
	}
	if int64(len(raw)) != t.Bytes(int64(len(values))) {
		panic("dllama: bytes do not match values")
	}
}
