package llama

import (
	"context"
	"errors"
	"sync"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/constrain"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/model/topology"
)

// ErrClosed is returned by Generate if the engine is closed before the answer
// is complete.
var ErrClosed = fault.As(fault.Interrupted, errors.New("the engine is closed"))

// An Engine generates answers with one model. It is safe for concurrent use
// and computes as many answers at the same time as it has slots; other calls
// wait.
type Engine struct {
	model     *model
	tokenizer *tokenizer.Tokenizer
	chat      chat
	chatErr   error // why conversations are not supported, or nil
	runner    *runner
	scheduler *scheduler
	threads   int

	longestToken int                          // bytes
	vocabulary   func() *constrain.Vocabulary // made for the first answer of a given form
	encoding     sync.Mutex

	life      context.Context //nolint:containedctx // ends with Close
	end       context.CancelFunc
	closeOnce sync.Once
	closeErr  error

	slots chan struct{} // holds a token for each call that the scheduler computes
}

// Open maps the model, reads the tokenizer and starts the threads. It is quick
// because it reads only the header of the model; the system loads weights when
// they are first used. The file must not change until Close.
//
// The error names the file. It is NotFound, Corrupt (not a model, or
// incomplete), Unsupported (a model the engine cannot run), Invalid (wrong
// configuration) or Quota (no memory for the cache).
func Open(c Config) (*Engine, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	tok, err := openTokenizer(c.Tokenizer)
	if err != nil {
		return nil, err
	}
	m, err := openModel(c.Model, c.BufferFloatType)
	if err != nil {
		return nil, err
	}
	e, err := newEngine(c, m, tok)
	if err != nil {
		_ = m.close()
		return nil, err
	}
	return e, nil
}

func newEngine(c Config, m *model, tok *tokenizer.Tokenizer) (*Engine, error) {
	if have := len(tok.File().Tokens); have > m.shape.VocabSize {
		return nil, fault.Errorf(fault.Invalid, "cannot use tokenizer %q with model %q: it has %d tokens, the model %d", c.Tokenizer, c.Model, have, m.shape.VocabSize)
	}
	chat, chatErr := newChat(tok.File(), c.ChatTemplate)
	if chatErr != nil && c.ChatTemplate != "" {
		return nil, chatErr
	}
	seqLen := m.shape.SeqLen
	if c.MaxSeqLen > 0 {
		seqLen = min(seqLen, c.MaxSeqLen)
	}
	threads, slots := max(c.Threads, 1), max(c.Slots, 1)
	kv, err := newCache(m.shape, topology.CacheTokens(seqLen, slots))
	if err != nil {
		return nil, err
	}
	r, err := newRunner(m, c.kernelSet(), kv, seqLen, threads, batchSize+leastPrompt, slots)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		model: m, tokenizer: tok, chat: chat, chatErr: chatErr, runner: r, threads: threads,
		longestToken: tok.File().MaxTokenLength(), slots: make(chan struct{}, slots), scheduler: newScheduler(r, slots, c.alone),
	}
	e.vocabulary = sync.OnceValue(func() *constrain.Vocabulary { return newVocabulary(tok) })
	e.life, e.end = context.WithCancel(context.Background())
	go e.scheduler.run(e.life) // Close waits for its end
	return e, nil
}

// Close stops running answers, waits for them, and frees memory and threads.
func (e *Engine) Close() error {
	e.closeOnce.Do(func() {
		e.end()
		<-e.scheduler.ended
		for range cap(e.slots) {
			e.slots <- struct{}{} // never released: no answer starts after Close
		}
		e.closeErr = errors.Join(e.runner.close(), e.model.close())
	})
	return e.closeErr
}

// An Info describes an open engine.
type Info struct {
	Shape       topology.Shape  // of the model, as in the file
	SeqLen      int             // longest context in tokens
	Vocabulary  int             // number of tokens of the tokenizer
	Template    ChatTemplate    // "" if conversations are not supported
	Calls       toolcall.Family // format in which the model calls tools
	Threads     int
	WeightBytes int64 // mapped from the file
	CacheBytes  int64 // limit of the key-value cache, which all slots share
	Slots       int   // number of answers computed at the same time
}

// Info returns a description of the engine.
func (e *Engine) Info() Info {
	return Info{
		Shape: e.model.shape, SeqLen: e.runner.seqLen, Vocabulary: len(e.tokenizer.File().Tokens),
		Template: e.chat.template, Calls: e.chat.family, Threads: e.threads,
		WeightBytes: e.model.shape.WeightBytes(), CacheBytes: e.runner.cache.most(),
		Slots: cap(e.slots),
	}
}

// ChatError returns why the engine does not support conversations, or nil if
// it does. The error is Unsupported.
func (e *Engine) ChatError() error { return e.chatErr }
