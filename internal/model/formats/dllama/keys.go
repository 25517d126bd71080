package dllama

import "github.com/gorizond/koldun/internal/model/topology"

// magic begins every .m file (bytes CD AB 00 0A).
const magic = 0x0A00ABCD

// The keys of the header pairs.
const (
	keyVersion       = 0
	keyArch          = 1
	keyDim           = 2
	keyHiddenDim     = 3
	keyLayers        = 4
	keyHeads         = 5
	keyKVHeads       = 6
	keyExperts       = 7
	keyActiveExperts = 8
	keyVocabSize     = 9
	keySeqLen        = 10
	keyActivation    = 11
	keyRopeTheta     = 12
	keyWeights       = 13
	keyRopeFactor    = 14
	keyRopeLow       = 15
	keyRopeHigh      = 16
	keyRopeOriginal  = 17
	keyRopeType      = 18
	keyHeadDim       = 19
	keyNormEpsilon   = 20
	keyMoEHidden     = 21
	numKeys          = 22
)

var keyNames = [numKeys]string{
	"version", "arch_type", "dim", "hidden_dim", "n_layers", "n_heads", "n_kv_heads", "n_experts", "n_active_experts",
	"vocab_size", "max_seq_len", "hidden_act", "rope_theta", "weights_float_type", "rope_scaling_factor",
	"rope_scaling_low_freq_factor", "rope_scaling_high_freq_factor", "rope_scaling_orig_max_seq_len", "rope_type",
	"head_dim", "norm_epsilon", "moe_hidden_dim",
}

// Codes of architectures and float types.
var (
	archCodes  = map[topology.Arch]int{topology.Llama: 0xABCD00, topology.Qwen3: 0xABCD01, topology.Qwen3MoE: 0xABCD02}
	floatCodes = map[topology.FloatType]int{topology.F32: 0, topology.F16: 1, topology.Q40: 2, topology.Q80: 3}
)

func decodeCode[T ~string](codes map[T]int, code int) (T, bool) {
	for v, c := range codes {
		if c == code {
			return v, true
		}
	}
	return "", false
}
