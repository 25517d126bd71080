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
// An Engine holds one model, one cache of keys and values and one bounded set of
// threads. Its scheduler evaluates the next tokens of several sequences in each
// batch, which reads the weights once for all. A sequence gets the same bits in
// any batch, so that answers do not depend on other requests.
package llama
