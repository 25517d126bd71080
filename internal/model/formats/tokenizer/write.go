package tokenizer

import (
	"encoding/binary"
	"math"

	"github.com/gorizond/koldun/internal/fault"
)

// Encode returns the bytes of the file in the order of distributed-llama's
// converter. The error is Invalid.
func (f File) Encode() ([]byte, error) {
	if err := f.Validate(); err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot write tokenizer: %w", err)
	}
	pairs := [][2]int{
		{keyBOS, f.BOS},
		{keyVersion, 1},
		{keyVocabSize, len(f.Tokens)},
		{keyMaxLength, f.MaxTokenLength()},
	}
	if f.ChatTemplate != "" {
		pairs = append(pairs, [2]int{keyChatTemplate, len(f.ChatTemplate)})
	}
	addBOS := 0
	if f.AddBOS {
		addBOS = 1
	}
	pairs = append(pairs, [2]int{keyEOSCount, len(f.EOS)}, [2]int{keyAddBOS, addBOS})

	var b []byte
	put := func(v int) { b = binary.LittleEndian.AppendUint32(b, uint32(int32(v))) }
	put(magic)
	put(8 + 8*len(pairs))
	for _, p := range pairs {
		put(p[0])
		put(p[1])
	}
	b = append(b, f.ChatTemplate...)
	for _, id := range f.EOS {
		put(id)
	}
	for _, t := range f.Tokens {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(t.Score))
		put(len(t.Text))
		b = append(b, t.Text...)
	}
	return b, nil
}

// Validate checks that a .t file can hold f. The error is Invalid and names the
// token and the numbers.
func (f File) Validate() error {
	n := len(f.Tokens)
	if n == 0 || n > maxVocab {
		return fault.Errorf(fault.Invalid, "the vocabulary has %d tokens, want 1 to %d", n, maxVocab)
	}
	for id, t := range f.Tokens {
		if len(t.Text) == 0 || len(t.Text) > maxToken {
			return fault.Errorf(fault.Invalid, "token %d has %d bytes, want 1 to %d", id, len(t.Text), maxToken)
		}
	}
	if f.BOS < 0 || f.BOS >= n {
		return fault.Errorf(fault.Invalid, "bos id is %d, the vocabulary has %d tokens", f.BOS, n)
	}
	if len(f.EOS) == 0 || len(f.EOS) > maxEOS {
		return fault.Errorf(fault.Invalid, "there are %d eos ids, want 1 to %d", len(f.EOS), maxEOS)
	}
	for _, id := range f.EOS {
		if id < 0 || id >= n {
			return fault.Errorf(fault.Invalid, "eos id is %d, the vocabulary has %d tokens", id, n)
		}
	}
	if len(f.ChatTemplate) > maxTemplate {
		return fault.Errorf(fault.Invalid, "the chat template has %d bytes, want at most %d", len(f.ChatTemplate), maxTemplate)
	}
	return nil
}
