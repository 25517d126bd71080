package llama

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/model/topology"
)

const (
	besideRounds = 5
	besideTokens = 64 // of each answer
)

// BenchmarkBesideDllama compares the embedded engine with distributed-llama:
// the same model, prompt and number of tokens, in turns, because the speed of a
// shared machine changes from minute to minute. It reports the medians of five
// rounds, and the median of the ratios of each round.
func BenchmarkBesideDllama(b *testing.B) {
	dir := os.Getenv("DLLAMA_BIN")
	if dir == "" {
		b.Skip("DLLAMA_BIN is not set; run: make bench-engine")
	}
	_, tokens := convertModel(b, tiny, topology.Q40, convert.Both)
	for _, weights := range []topology.FloatType{topology.Q40, topology.F32} {
		model := writeBench(b, weights)
		buffers, err := topology.SyncFor(weights)
		if err != nil {
			b.Fatal(err)
		}
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", weights, threads), func(b *testing.B) {
				c := Config{Model: model, Tokenizer: tokens, Threads: threads, BufferFloatType: buffers}
				c.alone = true // every round evaluates the prompt
				e := open(b, c)
				embeddedSpeed(b, e) // reads the file into memory
				var ours, theirs []speed
				for range besideRounds {
					ours = append(ours, embeddedSpeed(b, e))
					theirs = append(theirs, dllamaSpeed(b, dir, c, ours[0].promptTokens+besideTokens))
				}
				b.ReportMetric(0, "ns/op")
				prompt, token := func(s speed) float64 { return s.prompt }, func(s speed) float64 { return s.token }
				report(b, "prompt", ours, theirs, prompt)
				report(b, "generated", ours, theirs, token)
			})
		}
	}
}

// A speed is in tokens per second.
type speed struct {
	prompt, token float64
	promptTokens  int
}

func report(b *testing.B, what string, ours, theirs []speed, of func(speed) float64) {
	b.Helper()
	var a, d, ratio []float64
	for i := range ours {
		a, d = append(a, of(ours[i])), append(d, of(theirs[i]))
		ratio = append(ratio, a[i]/d[i])
	}
	for name, values := range map[string][]float64{"tokens/s": a, "dllama-tokens/s": d, "ratio": ratio} {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], what+"-"+name)
	}
}

var besidePrompt = strings.Repeat("Who wrote the letter about the river and the old bridge? ", 10)

func embeddedSpeed(b *testing.B, e *Engine) speed {
	b.Helper()
	r, err := e.Generate(context.Background(), Request{Prompt: besidePrompt, MaxTokens: besideTokens}, func(Piece) error { return nil })
	if err != nil {
		b.Fatal(err)
	}
	if r.Tokens != besideTokens {
		b.Fatalf("the answer has %d tokens, want %d: the random model ended it", r.Tokens, besideTokens)
	}
	// The first token of the answer comes with the prompt.
	return speed{float64(r.PromptTokens) / r.PromptTime.Seconds(), float64(r.Tokens-1) / r.AnswerTime.Seconds(), r.PromptTokens}
}

var rates = regexp.MustCompile(`(?s)Evaluation.*?nTokens: (\d+).*?tokens/s: ([\d.]+).*Prediction.*?nTokens: (\d+).*?tokens/s: ([\d.]+)`)

// dllamaSpeed runs the program once, up to a position. It measures itself, without
// loading.
func dllamaSpeed(b *testing.B, dir string, c Config, positions int) speed {
	b.Helper()
	out, err := exec.Command(filepath.Join(dir, "dllama"), "inference", "--model", c.Model, "--tokenizer", c.Tokenizer,
		"--buffer-float-type", string(c.BufferFloatType), "--nthreads", strconv.Itoa(c.Threads), "--prompt", besidePrompt,
		"--steps", strconv.Itoa(positions), "--temperature", "0", "--seed", "1").CombinedOutput()
	found := rates.FindSubmatch(out)
	if err != nil || found == nil {
		b.Fatalf("cannot measure dllama: %v\n%s", err, out)
	}
	prompt, _ := strconv.ParseFloat(string(found[2]), 64)
	token, _ := strconv.ParseFloat(string(found[4]), 64)
	return speed{prompt: prompt, token: token}
}
