package up_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/test/waittest"
)

const (
	quickstart = "../../../examples/quickstart/dllama.yaml"
	models     = "../../../examples/models"
	answer     = "Koldun turns a short YAML claim into a running, OpenAI-compatible language model service on distributed-llama."
)

func TestMain(m *testing.M) { programtest.Main(m, "../../..") }

// up starts the quickstart on a free port.
func up(t *testing.T, data string, more ...string) *programtest.Process {
	t.Helper()
	args := append([]string{"up", "-f", quickstart, "--hub-dir", models, "--data", data, "--port", "koldun-tiny-gateway=0"}, more...)
	return programtest.Start(t, args...)
}

func endpoint(t *testing.T, p *programtest.Process) string {
	t.Helper()
	url := p.Expect(t, `Endpoint\s+(http://\S+)`)[1]
	p.Expect(t, `Press Ctrl-C to stop`)
	return url
}

func TestUpOnceAnswersAndUsesTheModelAgain(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first := up(t, data, "--once")
	if code := first.Exit(t); code != 0 {
		t.Fatalf("exit status %d", code)
	}
	for _, want := range []string{answer, "Model     default/koldun-tiny", "curl http://127.0.0.1:", "from openai import OpenAI"} {
		if !strings.Contains(first.Text(), want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	second := up(t, data, "--once")
	if code := second.Exit(t); code != 0 {
		t.Fatalf("exit status of the second run %d", code)
	}
	if !strings.Contains(second.Text(), answer) {
		t.Error("the second run answers no request")
	}
	for _, job := range []string{"Job koldun-tiny-fetch", "Job koldun-tiny-convert"} {
		if strings.Contains(second.Text(), job) {
			t.Errorf("the second run has %s, though the model exists", job)
		}
	}
}

func TestUpServesTheOpenAIClient(t *testing.T) {
	t.Parallel()
	p := up(t, t.TempDir(), "--ask", "")
	url := endpoint(t, p)
	client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))
	ctx := waittest.Context(t)

	list, err := client.Models.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Data) != 1 || list.Data[0].ID != "default/koldun-tiny" {
		t.Errorf("got models %+v", list.Data)
	}
	if m, err := client.Models.Get(ctx, "default/koldun-tiny"); err != nil || m.ID != "default/koldun-tiny" {
		t.Errorf("Get: %+v, %v", m, err)
	}
	checkModel(t, list.Data[0])
	params := openai.ChatCompletionNewParams{
		Model:    "default/koldun-tiny",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is Koldun?")},
	}
	whole, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	if got := whole.Choices[0].Message.Content; got != answer || whole.Choices[0].FinishReason != "stop" {
		t.Errorf("got answer %q (%s)", got, whole.Choices[0].FinishReason)
	}
	if whole.Usage.CompletionTokens == 0 || whole.Usage.PromptTokens == 0 {
		t.Errorf("got usage %+v", whole.Usage)
	}
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	acc := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		acc.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if got := acc.Choices[0].Message.Content; got != answer {
		t.Errorf("got streamed answer %q", got)
	}
	if acc.Usage.TotalTokens == 0 {
		t.Error("the stream has no usage")
	}
	checkLogprobs(ctx, t, client)
	checkForms(ctx, t, client)
	checkToolLoop(ctx, t, client)
	checkOwnCall(ctx, t, client)
	checkEmbeddings(ctx, t, client)
	checkNothingStored(ctx, t, client)
	// An answer arrives in several pieces: the first at once, and what follows soon after it
	// together. A busy machine may deliver one answer whole, but not several.
	var pieces []int
	for range 5 {
		n := 0
		params.Messages[0] = openai.UserMessage("Count to 100")
		for stream := client.Chat.Completions.NewStreaming(ctx, params); stream.Next(); {
			if c := stream.Current().Choices; len(c) > 0 && c[0].Delta.Content != "" {
				n++
			}
		}
		if pieces = append(pieces, n); n >= 2 {
			break
		}
	}
	if slices.Max(pieces) < 2 {
		t.Errorf("the answers came in %v pieces: they are not streamed", pieces)
	}
	p.Interrupt(t)
	if code := p.Exit(t); code != 0 {
		t.Errorf("exit status after an interrupt: got %d", code)
	}
}

func TestUpRestartsAKilledChildAndLeavesNothing(t *testing.T) {
	t.Parallel()
	p := up(t, t.TempDir(), "--ask", "")
	url := endpoint(t, p)
	children := descendants(t, p.PID())
	killed := 0
	for pid, line := range children {
		if strings.Contains(line, " engine api ") || strings.Contains(line, " gateway ") {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			killed++
		}
	}
	if killed != 2 {
		t.Fatalf("killed %d processes of %v, want the engine and the gateway", killed, children)
	}
	p.Expect(t, `restarted \S*gateway`)
	client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(20))
	got, err := client.Chat.Completions.New(waittest.Context(t), openai.ChatCompletionNewParams{
		Model:    "koldun-tiny",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is Koldun?")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Choices[0].Message.Content != answer {
		t.Errorf("got answer %q", got.Choices[0].Message.Content)
	}
	children = descendants(t, p.PID())
	p.Interrupt(t)
	if code := p.Exit(t); code != 0 {
		t.Errorf("exit status %d", code)
	}
	gone(t, children)
}

func TestUpKilledLeavesNothingAndStartsAgain(t *testing.T) {
	programtest.WithoutRace(t)
	t.Parallel()
	data := t.TempDir()
	p := up(t, data, "--ask", "")
	endpoint(t, p)
	children := descendants(t, p.PID())
	if len(children) < 4 {
		t.Fatalf("got only the processes %v", children)
	}
	p.Kill(t)
	gone(t, children)
	again := up(t, data, "--once")
	if code := again.Exit(t); code != 0 {
		t.Fatalf("exit status %d", code)
	}
	if !strings.Contains(again.Text(), answer) {
		t.Error("it answers no request")
	}
}

// edited writes the quickstart claim with one replacement.
func edited(t *testing.T, pattern, with string) string {
	t.Helper()
	raw, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	re := regexp.MustCompile(pattern)
	if !re.Match(raw) {
		t.Fatalf("the quickstart does not match %q", pattern)
	}
	name := filepath.Join(t.TempDir(), "claim.yaml")
	if err := os.WriteFile(name, re.ReplaceAll(raw, []byte(with)), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// copied copies the model's folder to a new hub, for a test to corrupt.
func copied(t *testing.T) (hub, model string) {
	t.Helper()
	hub = t.TempDir()
	model = filepath.Join(hub, "koldun-tiny")
	if err := os.CopyFS(model, os.DirFS(filepath.Join(models, "koldun-tiny"))); err != nil {
		t.Fatal(err)
	}
	return hub, model
}

func TestUpRefusesBadInput(t *testing.T) {
	hub := func(spoil func(t *testing.T, model string)) func(*testing.T) []string {
		return func(t *testing.T) []string {
			t.Helper()
			dir, model := copied(t)
			spoil(t, model)
			return []string{"-f", quickstart, "--hub-dir", dir}
		}
	}
	claim := func(pattern, with string) func(*testing.T) []string {
		return func(t *testing.T) []string {
			t.Helper()
			return []string{"-f", edited(t, pattern, with), "--hub-dir", models}
		}
	}
	cases := map[string]struct {
		args func(*testing.T) []string
		says []string // all in the last line
		code int
	}{
		"NoFile":       {func(*testing.T) []string { return []string{"-f", "nowhere.yaml"} }, []string{"cannot read claims", "nowhere.yaml"}, 10},
		"WrongYAML":    {claim(`(?m)^spec:`, "spec: ["), []string{"cannot read document 1", "claim.yaml"}, 10},
		"UnknownKind":  {claim(`kind: Dllama`, "kind: Lama"), []string{`kind "Lama"`}, 10},
		"UnknownField": {claim(`sourceUrl`, "sourceURL"), []string{"Dllama default/koldun-tiny", "spec.model.sourceURL: unknown field", "spec.model.sourceUrl: Required"}, 10},
		"WrongValue":   {claim(`q40`, "q41"), []string{"spec.model.conversion.weightsFloatType", `"q41"`}, 10},
		"NotRunHere":   {claim(`(?s)^.*$`, "{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: NodeLabelRule, metadata: {name: r}, spec: {forProvider: {labels: {a: b}}}}"), []string{"NotRunHere", "NodeLabelRule", "no nodes"}, 10},
		"NoModel":      {claim(`gorizond/koldun-tiny`, "gorizond/missing"), []string{"Dllama default/koldun-tiny", "gorizond/missing"}, 10},
		"Unsupported": {hub(func(t *testing.T, model string) {
			t.Helper()
			rewrite(t, filepath.Join(model, "config.json"), `"model_type": "llama"`, `"model_type": "gpt2"`)
		}), []string{"ModelUnsupported", "gpt2"}, 10},
		"MissingFile": {hub(func(t *testing.T, model string) {
			t.Helper()
			if err := os.Remove(filepath.Join(model, "model-00002-of-00002.safetensors")); err != nil {
				t.Fatal(err)
			}
		}), []string{"ConversionFailed", "koldun-tiny"}, 10},
		"Truncated": {hub(func(t *testing.T, model string) {
			t.Helper()
			if err := os.Truncate(filepath.Join(model, "model-00002-of-00002.safetensors"), 100_000); err != nil {
				t.Fatal(err)
			}
		}), []string{"ConversionFailed", "model-00002-of-00002.safetensors"}, 10},
		"NoTokenizer": {hub(func(t *testing.T, model string) {
			t.Helper()
			if err := os.Remove(filepath.Join(model, "tokenizer.json")); err != nil {
				t.Fatal(err)
			}
		}), []string{"ConversionFailed", "tokenizer.json"}, 10},
		"PortInUse": {func(t *testing.T) []string {
			t.Helper()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			return []string{"-f", quickstart, "--hub-dir", models, "--port", fmt.Sprintf("koldun-tiny-gateway=%d", l.Addr().(*net.TCPAddr).Port)}
		}, []string{"koldun-tiny-gateway", "in use"}, 15},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			args := append([]string{"up", "--data", data, "--once"}, c.args(t)...)
			if name != "PortInUse" {
				args = append(args, "--port", "koldun-tiny-gateway=0")
			}
			p := programtest.Start(t, args...)
			if code := p.Exit(t); code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
			lines := strings.Split(strings.TrimSpace(p.Text()), "\n")
			last := lines[len(lines)-1]
			for _, want := range c.says {
				if !strings.Contains(last, want) {
					t.Errorf("last line: got %q, want %q in it", last, want)
				}
			}
			programtest.NothingHalfWritten(t, data)
		})
	}
}

func rewrite(t *testing.T, name, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), from) {
		t.Fatalf("%s does not hold %q", name, from)
	}
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(raw), from, to)), 0o600); err != nil {
		t.Fatal(err)
	}
}
