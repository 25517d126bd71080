package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Sizes and offsets of a block of q40 weights and of a kernel.Packed.
const (
	blockBytes  = 18
	nibbleBytes = 2 // where the nibbles begin, after the scale
	packedBytes = 72
	packedScale = 64
	packedBias  = 68
	low         = 0x0f0f0f0f
)

// The kernels of q40 weights multiply as many rows as a vector register has lanes
// with n packed vectors, and set a register's worth of sums for each. After the n
// blocks with which a block of the rows is multiplied, they skip some bytes.
const q40Signature = "func(w *byte, blocks int, x *byte, n, skip int, sums *float32)"

// q40Lanes is what differs between the kernels of q40 weights.
type q40Lanes struct {
	rows    int // lanes of a vector
	vector  func() VecVirtual
	clear   func(VecVirtual)
	begin   func() // sets constants that stay in registers
	unpack  func(rows) (weights []VecVirtual, scale VecVirtual)
	product func(weights []VecVirtual, scale VecVirtual, x Register) VecVirtual
}

// q40Kernel writes a kernel. Each lane is a row, and the sums are in memory.
func q40Kernel(name string, l q40Lanes) {
	sumBytes := uint64(4 * l.rows)

	TEXT(name, NOSPLIT, q40Signature)
	w := Load(Param("w"), GP64())
	blocks := Load(Param("blocks"), GP64())
	x := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	skip := Load(Param("skip"), GP64())
	sums := Load(Param("sums"), GP64())
	distance := GP64()
	IMUL3Q(Imm(blockBytes), blocks, distance)
	r := newRows(w, distance, l.rows)
	next := r.ahead(w, l.rows)
	l.begin()

	t, o := GP64(), GP64()
	zero := l.vector()
	l.clear(zero)
	MOVQ(n, t)
	MOVQ(sums, o)
	Label("clear")
	VMOVUPS(zero, Mem{Base: o})
	ADDQ(Imm(sumBytes), o)
	DECQ(t)
	JNZ(LabelRef("clear"))

	Label("block")
	prefetch(next, l.rows*blockBytes, false)
	weights, scale := l.unpack(r)
	MOVQ(n, t)
	MOVQ(sums, o)
	Label("vector")
	product := l.product(weights, scale, x)
	VADDPS(Mem{Base: o}, product, product)
	VMOVUPS(product, Mem{Base: o})
	ADDQ(Imm(packedBytes), x)
	ADDQ(Imm(sumBytes), o)
	DECQ(t)
	JNZ(LabelRef("vector"))
	ADDQ(skip, x)
	r.advance(blockBytes)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// rows computes the addresses of rows that follow each other at a distance.
type rows struct {
	every4          []GPVirtual // rows 0, 4, 8, ...
	distance, three GPVirtual   // of one and of three rows
}

func newRows(first, distance Register, n int) rows {
	r := rows{distance: GP64(), three: GP64()}
	MOVQ(distance, r.distance)
	LEAQ(Mem{Base: r.distance, Index: r.distance, Scale: 2}, r.three)
	p := first
	for range n / 4 {
		q := GP64()
		MOVQ(p, q)
		r.every4 = append(r.every4, q)
		next := GP64()
		LEAQ(Mem{Base: q, Index: r.distance, Scale: 4}, next)
		p = next
	}
	return r
}

// at returns the address of an offset in row i.
func (r rows) at(i, offset int) Mem {
	m := Mem{Base: r.every4[i/4], Disp: offset}
	switch i % 4 {
	case 1:
		m.Index, m.Scale = r.distance, 1
	case 2:
		m.Index, m.Scale = r.distance, 2
	case 3:
		m.Index, m.Scale = r.three, 1
	}
	return m
}

// ahead is the address of what follows n rows.
func (r rows) ahead(first Register, n int) GPVirtual {
	p := GP64()
	IMUL3Q(Imm(uint64(n)), r.distance, p)
	ADDQ(first, p)
	return p
}

// prefetch loads as many bytes of the following rows as one step reads of several
// ones. The processor does not see that the rows are one stream in memory. The
// nearest cache may be needed for what is read again.
func prefetch(p Register, bytes int, far bool) {
	for line := 0; line < bytes; line += 64 {
		if far {
			PREFETCHT1(Mem{Base: p, Disp: line})
		} else {
			PREFETCHT0(Mem{Base: p, Disp: line})
		}
	}
	LEAQ(Mem{Base: p, Disp: bytes}, p)
}

func (r rows) advance(bytes int) {
	for _, p := range r.every4 {
		ADDQ(Imm(uint64(bytes)), p)
	}
}

// halves loads the scales, which are binary16 numbers, of eight rows.
func (r rows) halves(first int, dst VecVirtual) {
	VPXOR(dst, dst, dst)
	for i := range 8 {
		VPINSRW(Imm(uint64(i)), r.at(first+i, 0), dst, dst)
	}
}

// transpose turns four vectors, of which vector i has in every group of four
// lanes the 16 bytes of a row whose number is i modulo 4, into four vectors, of
// which vector j has dword j of the rows, in order.
func transpose(v []VecVirtual, vec func() VecVirtual) []VecVirtual {
	ab0, ab1, cd0, cd1 := vec(), vec(), vec(), vec()
	VPUNPCKLDQ(v[1], v[0], ab0)
	VPUNPCKHDQ(v[1], v[0], ab1)
	VPUNPCKLDQ(v[3], v[2], cd0)
	VPUNPCKHDQ(v[3], v[2], cd1)
	out := []VecVirtual{vec(), vec(), vec(), vec()}
	VPUNPCKLQDQ(cd0, ab0, out[0])
	VPUNPCKHQDQ(cd0, ab0, out[1])
	VPUNPCKLQDQ(cd1, ab1, out[2])
	VPUNPCKHQDQ(cd1, ab1, out[3])
	return out
}
