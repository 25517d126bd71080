package dllama

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
)

// maxPairs limits the header of a hostile file; there are 22 known keys.
const maxPairs = 64

// Magic numbers of older formats, which distributed-llama refuses as well.
const (
	oldMagicLlama = 0xABCD00
	oldMagicGrok  = 0xABCD01
)

// ReadHeader reads the header and leaves r at the first weight. The error is
// Corrupt if r is not a .m file, and Unsupported or Invalid if its numbers
// cannot run.
func ReadHeader(r io.Reader) (Header, error) {
	h, err := readHeader(r)
	if err != nil {
		return Header{}, fmt.Errorf("cannot read model header: %w", err)
	}
	return h, nil
}

// ReadShape returns what the header of a file of that size in bytes says of the model.
// The errors are those of ReadHeader, and Corrupt if weights are missing or left over.
func ReadShape(r io.Reader, size int64) (topology.Shape, error) {
	h, err := ReadHeader(r)
	if err != nil {
		return topology.Shape{}, err
	}
	if h.FileSize() != size {
		return topology.Shape{}, fault.Errorf(fault.Corrupt, "it has %d bytes, and its header describes %d", size, h.FileSize())
	}
	return h.Shape(), nil
}

func readHeader(r io.Reader) (Header, error) {
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return Header{}, short(err, "magic and size")
	}
	switch m := binary.LittleEndian.Uint32(start[:]); m {
	case magic:
	case oldMagicLlama, oldMagicGrok:
		return Header{}, fault.Errorf(fault.Unsupported, "magic 0x%x belongs to an old format: convert the model again", m)
	default:
		return Header{}, fault.Errorf(fault.Corrupt, "magic is 0x%08x, want 0x%08x", m, uint32(magic))
	}
	size := binary.LittleEndian.Uint32(start[4:])
	if size < 8 || size > 8+8*maxPairs || size%8 != 0 {
		return Header{}, fault.Errorf(fault.Corrupt, "header size is %d, want a multiple of 8 from 8 to %d", size, 8+8*maxPairs)
	}
	body := make([]byte, size-8)
	if _, err := io.ReadFull(r, body); err != nil {
		return Header{}, short(err, fmt.Sprintf("%d bytes of numbers", len(body)))
	}
	var values [numKeys]*int
	for i := 0; i < len(body); i += 8 {
		key := int32(binary.LittleEndian.Uint32(body[i:]))
		value := int(int32(binary.LittleEndian.Uint32(body[i+4:])))
		if key < 0 || key >= numKeys {
			return Header{}, fault.Errorf(fault.Unsupported, "key %d at byte %d is not known", key, 8+i)
		}
		if values[key] != nil {
			return Header{}, fault.Errorf(fault.Corrupt, "key %d (%s) is listed twice", key, keyNames[key])
		}
		values[key] = &value
	}
	h, err := fromValues(values)
	if err != nil {
		return Header{}, err
	}
	h.Size = int(size)
	return h, h.Validate()
}

func fromValues(values [numKeys]*int) (Header, error) {
	get := func(key, absent int) int {
		if values[key] == nil {
			return absent
		}
		return *values[key]
	}
	if v := get(keyVersion, 0); v != 0 {
		return Header{}, fault.Errorf(fault.Unsupported, "version is %d, want 0", v)
	}
	arch, ok := decodeCode(archCodes, get(keyArch, 0))
	if !ok {
		return Header{}, fault.Errorf(fault.Unsupported, "architecture is 0x%x, want 0xabcd00 (llama), 0xabcd01 (qwen3) or 0xabcd02 (qwen3_moe)", get(keyArch, 0))
	}
	weights, ok := decodeCode(floatCodes, get(keyWeights, -1))
	if !ok {
		return Header{}, fault.Errorf(fault.Unsupported, "weights float type is %d, want 0 to 3", get(keyWeights, -1))
	}
	h := Header{
		Arch: arch, Weights: weights, Activation: Activation(get(keyActivation, int(SiLU))),
		Dim: get(keyDim, 0), HiddenDim: get(keyHiddenDim, 0), Layers: get(keyLayers, 0), Heads: get(keyHeads, 0),
		KVHeads: get(keyKVHeads, 0), SeqLen: get(keySeqLen, 0), VocabSize: get(keyVocabSize, 0),
		Experts: get(keyExperts, 0), ActiveExperts: get(keyActiveExperts, 0),
		RopeTheta: get(keyRopeTheta, 0), RopeType: RopeType(get(keyRopeType, 0)), HeadDim: get(keyHeadDim, 0),
		NormEpsilon: get(keyNormEpsilon, 0), MoEHidden: get(keyMoEHidden, 0),
	}
	if values[keyRopeFactor] != nil {
		h.RopeScaling = &RopeScaling{
			Factor: get(keyRopeFactor, 1), LowFreqFactor: get(keyRopeLow, 0),
			HighFreqFactor: get(keyRopeHigh, 0), OriginalSeqLen: get(keyRopeOriginal, 0),
		}
	}
	return h, nil
}

// short returns a Corrupt error if the file ended too early, and other read
// errors unchanged.
func short(err error, wanted string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Errorf(fault.Corrupt, "the file ends before its %s", wanted)
	}
	return err
}
