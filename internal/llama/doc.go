// Package llama is the embedded engine: it runs .m models of distributed-llama
// with .t tokenizers on the processor of one machine. Package kernel has its
// inner loops.
//
// The arithmetic is that of distributed-llama: f32 weights with f32
// activations, or q40 weights with activations rounded to q80. Unlike
// distributed-llama, it evaluates the last token of the prompt as given,
// returns the same answer with and without the prompt cache, and takes
// sampling, stop strings and limits from each request. It evaluates the chat
// template of the tokenizer file, and takes control tokens from the template
// only, not from messages.
//
// An Engine holds one model, one key-value cache and one bounded set of
// threads. It computes one answer at a time.
package llama
