package dllama

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gorizond/koldun/internal/fault"
)

// Encode returns the bytes of the header in the order of distributed-llama's
// converter. It omits optional numbers that are 0 or nil.
func (h Header) Encode() ([]byte, error) {
	if err := h.Validate(); err != nil {
		return nil, fmt.Errorf("cannot write model header: %w", err)
	}
	pairs := h.pairs()
	b := make([]byte, 0, 8+8*len(pairs))
	b = binary.LittleEndian.AppendUint32(b, magic)
	b = binary.LittleEndian.AppendUint32(b, uint32(8+8*len(pairs)))
	for _, p := range pairs {
		if p.value > math.MaxInt32 || p.value < math.MinInt32 {
			return nil, fault.Errorf(fault.Unsupported, "cannot write model header: %s is %d, want at most %d", keyNames[p.key], p.value, math.MaxInt32)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(p.key))
		b = binary.LittleEndian.AppendUint32(b, uint32(int32(p.value)))
	}
	return b, nil
}

type pair struct{ key, value int }

func (h Header) pairs() []pair {
	p := []pair{
		{keyVersion, 0},
		{keyArch, archCodes[h.Arch]},
		{keyActivation, int(h.Activation)},
		{keyDim, h.Dim},
		{keyHiddenDim, h.HiddenDim},
		{keyLayers, h.Layers},
		{keyHeads, h.Heads},
		{keyKVHeads, h.KVHeads},
		{keyWeights, floatCodes[h.Weights]},
		{keySeqLen, h.SeqLen},
		{keyVocabSize, h.VocabSize},
		{keyExperts, h.Experts},
		{keyActiveExperts, h.ActiveExperts},
	}
	if h.RopeTheta != 0 {
		p = append(p, pair{keyRopeTheta, h.RopeTheta})
	}
	if s := h.RopeScaling; s != nil {
		p = append(p,
			pair{keyRopeFactor, s.Factor}, pair{keyRopeLow, s.LowFreqFactor}, pair{keyRopeHigh, s.HighFreqFactor},
			pair{keyRopeOriginal, s.OriginalSeqLen}, pair{keyRopeType, int(h.RopeType)})
	}
	if h.HeadDim != 0 {
		p = append(p, pair{keyHeadDim, h.HeadDim})
	}
	if h.NormEpsilon != 0 {
		p = append(p, pair{keyNormEpsilon, h.NormEpsilon})
	}
	if h.MoEHidden != 0 {
		p = append(p, pair{keyMoEHidden, h.MoEHidden})
	}
	return p
}
