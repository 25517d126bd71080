package llama

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/test/waittest"
)

const (
	count = "Count to 100" // its answer has 292 tokens
	hello = "Hello! I am Koldun Tiny. Ask me about Koldun, or ask what I can do."
)

func TestLimits(t *testing.T) {
	cfg := tinyConfig(t, topology.Q40)
	cases := map[string]struct {
		seqLen int
		r      Request
		finish Finish
		tokens int
	}{
		"MaxTokens":        {0, Request{Messages: user(count).Messages, MaxTokens: 7}, FinishLength, 7},
		"OneToken":         {0, Request{Messages: user(count).Messages, MaxTokens: 1}, FinishLength, 1},
		"MaxTokensAtEnd":   {0, Request{Messages: user("Hello").Messages, MaxTokens: 22}, FinishStop, 22},
		"MaxTokensBefore":  {0, Request{Messages: user("Hello").Messages, MaxTokens: 21}, FinishLength, 21},
		"ContextEnds":      {64, user(count), FinishLength, 64 - 17},
		"ContextForOne":    {18, user(count), FinishLength, 1},
		"MoreThanTheModel": {100000, user("Hello"), FinishStop, 22},
		"MaxBeyondContext": {64, Request{Messages: user(count).Messages, MaxTokens: 1000}, FinishLength, 64 - 17},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg.MaxSeqLen = c.seqLen
			e := open(t, cfg)
			_, result := ask(t, e, c.r)
			if result.Finish != c.finish || result.Tokens != c.tokens {
				t.Errorf("%d prompt tokens, %d tokens, finish %q; want %d tokens, finish %q", result.PromptTokens, result.Tokens, result.Finish, c.tokens, c.finish)
			}
		})
	}
}

func TestPromptTooLong(t *testing.T) {
	cfg := tinyConfig(t, topology.Q40)
	cfg.MaxSeqLen = 17
	e := open(t, cfg)
	_, err := e.Generate(context.Background(), user(count), func(Piece) error {
		t.Error("emit was called")
		return nil
	})
	var tooLong *TooLongError
	if !errors.As(err, &tooLong) || tooLong.Tokens != 17 || tooLong.SeqLen != 17 || tooLong.AtLeast || !fault.Is(err, fault.Invalid) {
		t.Errorf("err = %v", err)
	}
	_, err = e.Generate(context.Background(), user(strings.Repeat(count, 1<<16)), nil)
	if !errors.As(err, &tooLong) || tooLong.Tokens < 1<<15 || !tooLong.AtLeast {
		t.Errorf("far too long: err = %v", err)
	}
}

func TestUnusableRequests(t *testing.T) {
	e := open(t, tinyConfig(t, topology.Q40))
	both := user("Hello")
	both.Prompt = "x"
	if _, err := e.Generate(context.Background(), both, nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("messages and prompt: err = %v", err)
	}
}

func TestRawPrompt(t *testing.T) {
	e := open(t, tinyConfig(t, topology.Q40))
	p := readReference(t)[0]
	text, _ := ask(t, e, Request{Prompt: strings.TrimPrefix(p.Text, "<|begin_of_text|>")})
	if text != hello {
		t.Errorf("answer is %q", text)
	}
	if _, result := ask(t, e, Request{MaxTokens: 3}); result.PromptTokens != 1 { // only BOS
		t.Errorf("the empty prompt has %d tokens", result.PromptTokens)
	}
}

// TestStopStrings uses stops that cross, begin and end tokens.
func TestStopStrings(t *testing.T) {
	e := open(t, tinyConfig(t, topology.Q40))
	cases := map[string]struct {
		stops  []string
		want   string
		finish Finish
	}{
		"None":          {nil, hello, FinishStop},
		"EmptyIgnored":  {[]string{""}, hello, FinishStop},
		"NotThere":      {[]string{"zebra"}, hello, FinishStop},
		"AcrossTokens":  {[]string{"dun Ti"}, "Hello! I am Kol", FinishStop},
		"WholeSentence": {[]string{"I am Koldun Tiny. Ask me"}, "Hello! ", FinishStop},
		"FirstByte":     {[]string{"H"}, "", FinishStop},
		"FirstOfTwo":    {[]string{"Ask", "Tiny"}, "Hello! I am Koldun ", FinishStop},
		"LastByte":      {[]string{"do."}, strings.TrimSuffix(hello, "do."), FinishStop},
		// Text held back at the end because it could have become a stop.
		"BegunAtTheEnd": {[]string{"do.x", "can do. And"}, hello, FinishStop},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := user("Hello")
			r.Stop = c.stops
			text, result := ask(t, e, r)
			if text != c.want || result.Finish != c.finish {
				t.Errorf("answer is %q, finish %q; want %q, %q", text, result.Finish, c.want, c.finish)
			}
		})
	}
	t.Run("HeldTextIsNotLostAtTheLimit", func(t *testing.T) {
		r := user("Hello")
		r.Stop, r.MaxTokens = []string{"I am Koldun Tinyx"}, 6
		text, result := ask(t, e, r)
		if text != "Hello! I am Kol" && !strings.HasPrefix(hello, text) || len(text) < len("Hello! I am") || result.Finish != FinishLength {
			t.Errorf("answer is %q, finish %q", text, result.Finish)
		}
	})
}

// TestCacheEqualsFullEvaluation compares an engine that keeps its cache with
// one that starts each conversation with an empty cache.
func TestCacheEqualsFullEvaluation(t *testing.T) {
	for name, weights := range map[string]topology.FloatType{"F32": topology.F32, "Q40": topology.Q40} {
		t.Run(name, func(t *testing.T) {
			cfg := tinyConfig(t, weights)
			kept := open(t, cfg)
			cfg.alone = true
			fresh := open(t, cfg)
			both := func(r Request) (string, Result) {
				t.Helper()
				got, result := ask(t, kept, r)
				want, full := ask(t, fresh, r)
				if got != want || result.Tokens != full.Tokens || full.CachedTokens != 0 {
					t.Errorf("answer is %q with %d tokens from the cache, without %q", got, result.CachedTokens, want)
				}
				for i, v := range fresh.runner.logits {
					if v != kept.runner.logits[i] {
						t.Fatalf("score %d is %v with %d tokens from the cache, without %v", i, kept.runner.logits[i], result.CachedTokens, v)
					}
				}
				return got, result
			}
			turns := []Message{{Role: "user", Content: "My name is Ada."}}
			answer, _ := both(Request{Messages: turns})
			turns = append(turns, Message{Role: "assistant", Content: answer}, Message{Role: "user", Content: "What is my name?"})
			answer, result := both(Request{Messages: turns})
			if answer != "Your name is Ada." || result.CachedTokens < 20 {
				t.Errorf("second turn is %q with %d tokens from the cache", answer, result.CachedTokens)
			}
			again, result := both(Request{Messages: turns})
			if again != answer || result.CachedTokens != result.PromptTokens-1 {
				t.Errorf("the same again is %q with %d of %d tokens from the cache", again, result.CachedTokens, result.PromptTokens)
			}
			both(user("Hello"))
			both(Request{Messages: turns, Sampling: Sampling{Temperature: 1.5, Seed: 5}})
			both(Request{Messages: user(count).Messages, MaxTokens: 20})
			both(user("Count to 10"))
			both(Request{Messages: user("Hello").Messages, Stop: []string{"am"}})
			both(Request{Messages: []Message{{Role: "user", Content: "Hello"}, {Role: "assistant", Content: "Hello! I"}, {Role: "user", Content: "What is 2+2?"}}})
		})
	}
}

func TestCancellation(t *testing.T) {
	e := open(t, tinyConfig(t, topology.Q40))
	want, _ := ask(t, e, user(count))

	t.Run("Before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := e.Generate(ctx, user(count), func(Piece) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("Between", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		at := 0
		result, err := e.Generate(ctx, user(count), func(p Piece) error {
			if p.Tokens >= 5 && at == 0 {
				at = p.Tokens
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) || !fault.Is(err, fault.Interrupted) || result.Tokens < at || result.Tokens >= 292 || result.Finish != "" {
			t.Errorf("cancelled at token %d: %+v, err = %v", at, result, err)
		}
	})
	t.Run("Cause", func(t *testing.T) {
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(why)
		if _, err := e.Generate(ctx, user(count), func(Piece) error { return nil }); !errors.Is(err, why) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("ByEmit", func(t *testing.T) {
		enough := errors.New("enough")
		if _, err := e.Generate(context.Background(), user(count), func(p Piece) error {
			if p.Tokens > 3 {
				return enough
			}
			return nil
		}); !errors.Is(err, enough) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("WhileWaiting", func(t *testing.T) {
		e.slots <- struct{}{}
		defer func() { <-e.slots }()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			_, err := e.Generate(ctx, user(count), func(Piece) error { return nil })
			done <- err
		}()
		cancel()
		if err := waittest.Receive(t, "the waiting one ends", done); !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v", err)
		}
	})
	if got, _ := ask(t, e, user(count)); got != want {
		t.Errorf("after cancellations the answer is %q, want %q", got, want)
	}
}

func TestConcurrentRequests(t *testing.T) {
	e := open(t, tinyConfig(t, topology.Q40))
	prompts := readReference(t)
	var wg sync.WaitGroup
	for range 2 {
		for _, p := range prompts {
			wg.Go(func() {
				var text strings.Builder
				_, err := e.Generate(context.Background(), Request{Messages: p.Messages}, func(x Piece) error {
					text.WriteString(x.Text)
					return nil
				})
				if err != nil || text.String() != p.Q40.Text {
					t.Errorf("answer is %q (%v), want %q", text.String(), err, p.Q40.Text)
				}
			})
		}
	}
	wg.Wait()
}

func TestClose(t *testing.T) {
	e, err := Open(tinyConfig(t, topology.Q40))
	if err != nil {
		t.Fatal(err)
	}
	begun, done := make(chan struct{}), make(chan error, 2)
	var once sync.Once
	for range 2 { // one computes, one waits
		go func() {
			_, err := e.Generate(context.Background(), user(count), func(Piece) error {
				once.Do(func() { close(begun) })
				return nil
			})
			done <- err
		}()
	}
	waittest.Receive(t, "an answer begins", begun)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := waittest.Receive(t, "an answer ends", done); err != nil && !errors.Is(err, ErrClosed) {
			t.Errorf("err = %v", err)
		}
	}
	if _, err := e.Generate(context.Background(), user(count), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: err = %v", err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// TestWholeCharacters feeds an answer whose tokens are single bytes and wants
// whole characters.
func TestWholeCharacters(t *testing.T) {
	e := open(t, tinyConfig(t, topology.Q40))
	byteToken := map[string]int{}
	for id, tok := range e.tokenizer.File().Tokens[:256] {
		byteToken[tok.Text] = id
	}
	cases := map[string]struct{ bytes, want string }{
		"TwoBytes":   {"é!", "é!"},
		"FourBytes":  {"a🧙b", "a🧙b"},
		"CutAtEnd":   {"ab\xf0\x9f\xa7", "ab�"},
		"Invalid":    {"a\xff\xfeb", "a�b"},
		"OnlyBroken": {"\xc3", "�"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			a := &answer{e: e, decoder: e.tokenizer.Decoder(), stops: e.stopFilter(Request{}), emit: func(p Piece) error {
				if !utf8.ValidString(p.Text) {
					t.Errorf("piece %q is not UTF-8", p.Text)
				}
				got.WriteString(p.Text)
				return nil
			}}
			for i := range len(c.bytes) {
				done, err := a.say(byteToken[c.bytes[i:i+1]], i == len(c.bytes)-1)
				if err != nil || done != (i == len(c.bytes)-1) {
					t.Fatalf("done = %v, err = %v", done, err)
				}
			}
			if got.String() != c.want {
				t.Errorf("text is %q, want %q", got.String(), c.want)
			}
		})
	}
}

func TestSampledAnswersRepeat(t *testing.T) {
	e := open(t, tinyConfig(t, topology.Q40))
	r := user("Tell me a joke")
	r.Sampling = Sampling{Temperature: 2, TopP: .95, Seed: 42}
	first, _ := ask(t, e, r)
	ask(t, e, user("Hello"))
	if again, _ := ask(t, e, r); again != first {
		t.Errorf("the same seed gives %q and %q", first, again)
	}
	r.Sampling.Seed = 43
	if other, _ := ask(t, e, r); other == first {
		t.Errorf("another seed gives the same answer %q", other)
	}
}
