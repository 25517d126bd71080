package llama

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/engine/llama/kernel"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/test/waittest"
)

// TestSequencesInOneBatch wants the bits that each sequence gets alone, with each
// set of kernels.
func TestSequencesInOneBatch(t *testing.T) {
	for name, weights := range map[string]topology.FloatType{"F32": topology.F32, "Q40": topology.Q40} {
		path, _ := convertModel(t, tiny, weights, convert.Model)
		for _, k := range kernel.Sets() {
			t.Run(name+"/"+k.Name, func(t *testing.T) {
				r := newTestRunnerWith(t, path, "", 2, k)
				r.cache.limit = 64
				rng := newRand()
				var together []*sequence
				var want [][]float32
				var spans []span
				for i := range 6 {
					tokens := make([]int, 66+i)
					for j := range tokens {
						tokens[j] = rng.IntN(1024)
					}
					want = append(want, slices.Clone(evalAll(t, r, &sequence{}, tokens, batchSize)))
					last := 1 + i%3
					s := &sequence{}
					evalAll(t, r, s, tokens[:len(tokens)-last], 5)
					s.tokens = tokens
					if err := s.reserve(r.cache, last); err != nil {
						t.Fatal(err)
					}
					together = append(together, s)
					spans = append(spans, span{seq: s, n: last, wantScores: i != 4})
				}
				if err := r.eval(goOn, spans); err != nil {
					t.Fatal(err)
				}
				for i, s := range together {
					if s.pending() != 0 || !slices.Equal(spans[i].scores, want[i]) && i != 4 {
						t.Errorf("sequence %d has other scores in a batch", i)
					}
				}
			})
		}
	}
}

// TestClientsGetTheSameAnswers compares the answers of several clients at once
// with those that each gets alone, greedy and sampled, with and without memory for
// all of them.
func TestClientsGetTheSameAnswers(t *testing.T) {
	var requests []Request
	for i, p := range readReference(t)[:6] {
		r := Request{Messages: p.Messages, MaxTokens: 24}
		if i%2 == 1 {
			r.Sampling = Sampling{Temperature: 1.5, TopP: .9, Seed: uint64(i)}
		}
		requests = append(requests, r)
	}
	long := Request{Prompt: strings.Repeat("the long text of another client ", 20), MaxTokens: 24}
	requests = append(requests, long, long)
	for name, weights := range map[string]topology.FloatType{"F32": topology.F32, "Q40": topology.Q40} {
		cfg := tinyConfig(t, weights)
		cfg.alone = true
		e := open(t, cfg)
		var want []string
		for _, r := range requests {
			text, _ := ask(t, e, r)
			want = append(want, text)
		}
		cfg.alone, cfg.Slots = false, 4
		for _, blocks := range []int{0, 8} { // 8 hold one context
			t.Run(fmt.Sprintf("%s/blocks=%d", name, blocks), func(t *testing.T) {
				e := open(t, cfg)
				if blocks > 0 {
					e.runner.cache.limit = blocks
				}
				var clients sync.WaitGroup
				for client := range 4 {
					clients.Go(func() {
						for i := range requests {
							i = (i + client) % len(requests)
							if text, _ := ask(t, e, requests[i]); text != want[i] {
								t.Errorf("answer %d is %q, alone %q", i, text, want[i])
							}
						}
					})
				}
				waittest.Returns(t, "all clients have their answers", clients.Wait)
			})
		}
	}
}

func TestSharedPrefix(t *testing.T) {
	cfg := tinyConfig(t, topology.Q40)
	cfg.Slots = 2
	e := open(t, cfg)
	prompt := strings.Repeat("one two three ", 30)
	_, first := ask(t, e, Request{Prompt: prompt, MaxTokens: 4})
	_, second := ask(t, e, Request{Prompt: prompt + "four", MaxTokens: 4})
	if second.CachedTokens < first.PromptTokens-2 {
		t.Errorf("%d of %d tokens are shared", second.CachedTokens, first.PromptTokens)
	}
	kept := slices.Clone(e.scheduler.prefixes.kept)
	if len(kept) != 2 {
		t.Fatalf("%d sequences are kept, want 2", len(kept))
	}
	shared := second.CachedTokens / blockTokens
	if shared == 0 || !slices.Equal(kept[0].blocks[:shared], kept[1].blocks[:shared]) || kept[0].blocks[0].users != 2 {
		t.Errorf("the sequences do not share %d blocks", shared)
	}
	if kept[0].blocks[shared] == kept[1].blocks[shared] {
		t.Error("the sequences share a block that is not full")
	}
	// The least recently used sequence goes, with the blocks that only it has. The
	// first one is used again for its BOS.
	lent := e.runner.cache.lent
	ask(t, e, Request{Prompt: "x", MaxTokens: 1})
	if kept[1].blocks != nil || kept[0].blocks[0].users != 1 {
		t.Errorf("both sequences are still kept")
	}
	if now := e.runner.cache.lent; now != lent-len(kept[0].blocks)+shared+1 {
		t.Errorf("%d blocks are lent, before %d", now, lent)
	}
}

// TestRunningPrefix lets a request reuse what another one has evaluated that is not
// done.
func TestRunningPrefix(t *testing.T) {
	cfg := tinyConfig(t, topology.Q40)
	cfg.Slots = 2
	e := open(t, cfg)
	prompt := strings.Repeat("one two three ", 30)
	begun, read := make(chan struct{}), make(chan struct{})
	var once sync.Once
	ended := make(chan error, 1)
	go func() {
		_, err := e.Generate(t.Context(), Request{Prompt: prompt}, func(p Piece) error {
			if p.Tokens > 0 {
				once.Do(func() {
					close(begun)
					<-read
				})
			}
			return nil
		})
		ended <- err
	}()
	waittest.Receive(t, "the first answer begins", begun)
	_, second := ask(t, e, Request{Prompt: prompt, MaxTokens: 2})
	close(read)
	if err := waittest.Receive(t, "the first answer ends", ended); err != nil {
		t.Error(err)
	}
	if second.CachedTokens != second.PromptTokens-1 {
		t.Errorf("%d of %d tokens are shared", second.CachedTokens, second.PromptTokens)
	}
}
