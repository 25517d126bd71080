// Package kernel has the inner loops of the embedded engine, in portable Go and
// in assembly for the instruction sets of amd64 and arm64.
//
// Products of q40 weights and q80 activations are equal, bit by bit, in all of
// them: the integers of a block are added exactly, and blocks in order, with one
// rounding per product and per sum. Products of float32s differ in the order of
// sums, and do not depend on the number of rows and vectors computed at once.
//
//go:generate go -C asm run . -out ../kernels_amd64.s
package kernel
