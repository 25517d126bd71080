// Package llama is the embedded engine: it runs .m models of distributed-llama
// with .t tokenizers on the processor of one machine, in plain Go.
//
// The arithmetic is that of distributed-llama: weights f32 with f32
// activations, or weights q40 with activations rounded to q80. What it does
// better: the prompt ends in its true last token, a conversation that is
// continued from the cache gives the very answer of a full evaluation, and
// sampling, stops and limits are the request's own.
//
// An Engine holds one model, one cache of keys and values and one bounded set
// of threads; it computes one answer at a time.
package llama
