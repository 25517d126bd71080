package llama

import (
	"fmt"

	"github.com/gorizond/koldun/internal/engine/llama/kernel"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
)

// A Config selects the model of an Engine and the resources it may use.
type Config struct {
	Model     string // path of the .m file
	Tokenizer string // path of the .t file; its rules, if any, lie beside it

	Threads   int // number of computing threads; 0 means 1
	MaxSeqLen int // limit of the context in tokens; 0 means the model's own limit
	Slots     int // number of answers computed at the same time; 0 means 1
	// BufferFloatType is the type of activations between matrices: q80 for
	// q40 weights, f32 for f32 weights. "" selects the one that fits.
	BufferFloatType topology.FloatType
	// ChatTemplate overrides the template of the tokenizer file unless "".
	ChatTemplate ChatTemplate

	kernels *kernel.Set // nil means the fastest of this machine
	alone   bool        // no request reuses the keys and values of another
}

const (
	maxThreads = 256
	// MaxSlots is the most slots of an engine: what a batch of generated tokens
	// holds.
	MaxSlots = batchSize
)

// validate reports the first invalid field. The error is Invalid.
func (c Config) validate() error {
	if c.Model == "" {
		return fault.Errorf(fault.Invalid, "cannot open engine: no model file is named")
	}
	if c.Tokenizer == "" {
		return fault.Errorf(fault.Invalid, "cannot open engine: no tokenizer file is named")
	}
	if c.Threads < 0 || c.Threads > maxThreads {
		return fault.Errorf(fault.Invalid, "cannot open engine: the number of threads is %d, want 1 to %d", c.Threads, maxThreads)
	}
	if c.BufferFloatType != "" {
		if _, err := topology.ParseFloatType(string(c.BufferFloatType)); err != nil {
			return fault.As(fault.Invalid, fmt.Errorf("cannot open engine: buffers: %w", err))
		}
	}
	if c.Slots < 0 || c.Slots > MaxSlots {
		return fault.Errorf(fault.Invalid, "cannot open engine: the number of slots is %d, want 1 to %d", c.Slots, MaxSlots)
	}
	if c.MaxSeqLen < 0 {
		return fault.Errorf(fault.Invalid, "cannot open engine: the longest sequence is %d, want 0 (the model's) or more", c.MaxSeqLen)
	}
	return nil
}

func (c Config) kernelSet() *kernel.Set {
	if c.kernels != nil {
		return c.kernels
	}
	return kernel.Sets()[0]
}

func openTokenizer(path string) (*tokenizer.Tokenizer, error) {
	t, err := readTokenizer(path)
	if err != nil {
		return nil, fault.As(fault.KindOf(err), fmt.Errorf("cannot open tokenizer %q: %w", path, err))
	}
	return t, nil
}

func readTokenizer(path string) (*tokenizer.Tokenizer, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	file, err := tokenizer.Read(f)
	if err != nil {
		return nil, err
	}
	rules, err := readRules(names.TokenizerRules(path))
	if err != nil {
		return nil, err
	}
	return tokenizer.New(file, rules)
}

// readRules reads the rules of a tokenizer; nil if there is no such file.
func readRules(path string) (*tokenizer.Rules, error) {
	f, _, err := openRegular(path)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("rules %q: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	rules, err := tokenizer.ReadRules(f)
	if err != nil {
		return nil, fmt.Errorf("rules %q: %w", path, err)
	}
	return rules, nil
}
