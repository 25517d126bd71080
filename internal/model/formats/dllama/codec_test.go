package dllama_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/topology"
)

// plainExtreme returns the extreme by its definition.
func plainExtreme(src []float32) float32 {
	mx, mn := src[0], src[0]
	for _, x := range src {
		if x != x {
			return float32(math.NaN())
		}
		if x >= mx {
			mx = x
		}
		if x <= mn {
			mn = x
		}
	}
	if -mn > mx {
		return mn
	}
	return mx
}

func plainQ40(src []float32) []byte {
	d := plainExtreme(src) / -8
	inv := float32(0)
	if d != 0 {
		inv = 1 / d
	}
	out := binary.LittleEndian.AppendUint16(nil, dllama.F16(d))
	q := make([]byte, 32)
	for i, x := range src {
		t := float32(float32(x*inv) + 8.5)
		switch {
		case t != t || t < 0:
			q[i] = 0
		case t > 15:
			q[i] = 15
		default:
			q[i] = byte(t)
		}
	}
	for i := range 16 {
		out = append(out, q[i]|q[i+16]<<4)
	}
	return out
}

func plainQ80(src []float32) []byte {
	a := plainExtreme(src)
	if a < 0 {
		a = -a
	}
	d := a / 127
	inv := float32(0)
	if d != 0 {
		inv = 1 / d
	}
	out := binary.LittleEndian.AppendUint16(nil, dllama.F16(d))
	for _, x := range src {
		t := float64(float32(x * inv))
		if math.IsNaN(t) || math.IsInf(t, 0) {
			t = 0
		}
		out = append(out, byte(int64(math.RoundToEven(t))))
	}
	return out
}

// blocks returns random blocks of every magnitude and some special ones.
func blocks() [][32]float32 {
	rng := rand.New(rand.NewPCG(3, 4))
	negZero := float32(math.Copysign(0, -1))
	inf := float32(math.Inf(1))
	out := [][32]float32{{}, {31: negZero}, {0: negZero}, {5: float32(math.NaN())}, {7: inf, 9: 1}, {7: -inf, 9: 1}, {0: 1, 1: -1}, {0: -1, 1: 1}}
	for range 20000 {
		var b [32]float32
		scale := math.Pow(2, rng.Float64()*300-160)
		for i := range b {
			switch rng.IntN(12) {
			case 0:
				b[i] = 0
			case 1:
				b[i] = negZero
			case 2:
				b[i] = float32(scale)
			case 3:
				b[i] = -float32(scale)
			default:
				b[i] = float32(rng.NormFloat64() * scale)
			}
			if f := float64(b[i]); math.IsInf(f, 0) {
				b[i] = math.MaxFloat32
			}
		}
		out = append(out, b)
	}
	for range 2000 { // bfloat16 values: coarse, with many ties
		var b [32]float32
		for i := range b {
			b[i] = dllama.FromBF16(uint16(rng.Uint32N(8))<<4 | uint16(rng.Uint32N(4))<<7 | 0x3c00 | uint16(rng.Uint32N(2))<<15)
		}
		out = append(out, b)
	}
	for range 2000 { // only zeros of both signs
		var b [32]float32
		for i := range b {
			b[i] = []float32{0, negZero}[rng.IntN(2)]
		}
		out = append(out, b)
	}
	return out
}

func TestQuantisedBlocks(t *testing.T) {
	for _, b := range blocks() {
		got := make([]byte, dllama.Q40Block)
		dllama.Encode(topology.Q40, got, b[:])
		if want := plainQ40(b[:]); !bytes.Equal(got, want) {
			t.Fatalf("q40 of %v is % x, want % x", b, got, want)
		}
		got = make([]byte, dllama.Q80Block)
		dllama.Encode(topology.Q80, got, b[:])
		if want := plainQ80(b[:]); !bytes.Equal(got, want) {
			t.Fatalf("q80 of %v is % x, want % x", b, got, want)
		}
	}
}

func TestKnownBlocks(t *testing.T) {
	negZero := float32(math.Copysign(0, -1))
	var zeros, minus [32]float32
	for i := range minus {
		minus[i] = negZero
	}
	cases := map[string]struct {
		src  [32]float32
		want []byte
	}{
		"Zero":      {zeros, append([]byte{0x00, 0x80}, bytes.Repeat([]byte{0x88}, 16)...)},
		"MinusZero": {minus, append([]byte{0x00, 0x00}, bytes.Repeat([]byte{0x88}, 16)...)},
		"NaN":       {[32]float32{3: float32(math.NaN())}, append([]byte{0x00, 0x7e}, make([]byte, 16)...)},
		"Infinite":  {[32]float32{0: float32(math.Inf(1)), 1: 5}, append([]byte{0x00, 0xfc, 0x80}, bytes.Repeat([]byte{0x88}, 15)...)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := make([]byte, dllama.Q40Block)
			dllama.Encode(topology.Q40, got, c.src[:])
			if !bytes.Equal(got, c.want) {
				t.Errorf("bytes are % x, want % x", got, c.want)
			}
		})
	}
}

func TestDecodeIsNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		t     topology.FloatType
		steps float64 // the largest error in parts of the largest magnitude
	}{{topology.F32, 0}, {topology.F16, 1.0 / 2048}, {topology.Q40, 1.0 / 8}, {topology.Q80, 1.0 / 200}} {
		src := make([]float32, 320)
		for i := range src {
			src[i] = float32(rng.Float64()*2 - 1)
		}
		raw := make([]byte, c.t.Bytes(int64(len(src))))
		dllama.Encode(c.t, raw, src)
		back := make([]float32, len(src))
		dllama.Decode(c.t, back, raw)
		for i := range src {
			if e := math.Abs(float64(src[i] - back[i])); e > c.steps*1.001 {
				t.Errorf("%s: %g came back as %g", c.t, src[i], back[i])
			}
		}
	}
}

// TestHalves checks every binary16 and the rounding of values between two.
func TestHalves(t *testing.T) {
	for h := range 1 << 16 {
		f := dllama.FromF16(uint16(h))
		if f != f {
			if g := dllama.FromF16(dllama.F16(f)); g == g {
				t.Fatalf("NaN %04x became %g", h, g)
			}
			continue
		}
		if got := dllama.F16(f); got != uint16(h) {
			t.Fatalf("%04x is %g, which became %04x", h, f, got)
		}
		if h&0x7fff >= 0x7bff {
			continue
		}
		next := dllama.FromF16(uint16(h + 1))
		mid := float32((float64(f) + float64(next)) / 2)
		even := uint16(h + h&1)
		if got := dllama.F16(mid); got != even {
			t.Fatalf("%g between %04x and %04x became %04x, want %04x", mid, h, h+1, got, even)
		}
		up := math.Nextafter32(mid, next)
		if got := dllama.F16(up); got != uint16(h+1) {
			t.Fatalf("%g became %04x, want %04x", up, got, h+1)
		}
	}
	for f, want := range map[float32]uint16{65504: 0x7bff, 65519.996: 0x7bff, 65520: 0x7c00, -1e30: 0xfc00, 0x1p-25: 0, 0x1.000002p-25: 1} {
		if got := dllama.F16(f); got != want {
			t.Errorf("%g became %04x, want %04x", f, got, want)
		}
	}
	if f := dllama.FromBF16(0x3f80); f != 1 {
		t.Errorf("bfloat16 3f80 is %g, want 1", f)
	}
}
