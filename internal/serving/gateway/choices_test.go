package gateway

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"

	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// choiceOf returns the place of a request among the choices of its client's.
func choiceOf(r queue.Request) int {
	_, place, _ := strings.Cut(r.ID, "-")
	n, _ := strconv.Atoi(place)
	return n
}

// counts answers with the place of the choice and its seed.
func counts(_ context.Context, s *responder) {
	s.started()
	s.text("choice ")
	s.text(strconv.Itoa(choiceOf(s.request)))
	if s.chat.Seed != nil {
		s.text(" seed " + strconv.FormatInt(*s.chat.Seed, 10))
	}
	s.end("stop", 9, choiceOf(s.request)+2)
}

func TestChoices(t *testing.T) {
	w := newWorld(t, nil)
	client := w.client()
	runner := startRunner(t, w.bus, tinySession, counts)
	params := question("tiny")
	params.N, params.Seed = openai.Int(3), openai.Int(40)
	want := []string{"choice 0 seed 40", "choice 1 seed 41", "choice 2 seed 42"}
	usage := func(t *testing.T, u openai.CompletionUsage) {
		t.Helper()
		if u.PromptTokens != 9 || u.CompletionTokens != 9 || u.TotalTokens != 18 {
			t.Errorf("usage %s", u.RawJSON())
		}
	}
	t.Run("Chat", func(t *testing.T) {
		got, err := client.Chat.Completions.New(waittest.Context(t), params)
		if err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(got.Choices))
		for i, c := range got.Choices {
			if c.Index != int64(i) || c.FinishReason != "stop" {
				t.Errorf("choice %s", c.RawJSON())
			}
			texts[i] = c.Message.Content
		}
		if d := cmp.Diff(want, texts); d != "" {
			t.Error(d)
		}
		usage(t, got.Usage)
	})
	t.Run("ChatStream", func(t *testing.T) {
		params := params
		params.StreamOptions.IncludeUsage = openai.Bool(true)
		stream := client.Chat.Completions.NewStreaming(waittest.Context(t), params)
		texts, roles, ends := make([]string, 3), 0, 0
		var last openai.CompletionUsage
		for stream.Next() {
			for _, c := range stream.Current().Choices {
				texts[c.Index] += c.Delta.Content
				if c.Delta.Role != "" {
					roles++
				}
				if c.FinishReason != "" {
					ends++
				}
			}
			last = stream.Current().Usage
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, texts); d != "" || roles != 3 || ends != 3 {
			t.Errorf("%d roles, %d ends: %s", roles, ends, d)
		}
		usage(t, last)
	})
	const text = `{"model":"tiny","prompt":"x","n":2,"best_of":2`
	t.Run("Completion", func(t *testing.T) {
		_, body := w.do("POST", "/v1/completions", text+`}`)
		var got openai.Completion
		decode(t, body, &got)
		if len(got.Choices) != 2 || got.Choices[0].Text != "choice 0" || got.Choices[1].Text != "choice 1" || got.Choices[1].Index != 1 || got.Usage.TotalTokens != 14 {
			t.Errorf("got %s", body)
		}
	})
	t.Run("CompletionStream", func(t *testing.T) {
		_, body := w.do("POST", "/v1/completions", text+streaming+`}`)
		texts := make([]string, 2)
		for data := range strings.SplitSeq(strings.ReplaceAll(body, "data: ", ""), "\n\n") {
			var chunk struct{ Choices []struct{ Index, Text any } }
			if json.Unmarshal([]byte(data), &chunk) == nil && len(chunk.Choices) == 1 {
				c := chunk.Choices[0]
				texts[int(c.Index.(float64))] += c.Text.(string)
			}
		}
		if texts[0] != "choice 0" || texts[1] != "choice 1" || strings.Count(body, "[DONE]") != 1 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
			t.Errorf("%q: %s", texts, body)
		}
	})
	for _, r := range runner.seen() {
		if strings.Contains(string(r.Body), `"n"`) {
			t.Errorf("queued %s", r.Body)
		}
	}
}

// One choice that fails ends all: as a status before the first text, and as an event
// after it. The others are cancelled.
func TestChoicesFailTogether(t *testing.T) {
	w := newWorld(t, func(c *Config, p *timing) {
		c.Limits.ConcurrentRequests = 3
		p.quiet, p.keepAlive = time.Hour, time.Hour
	})
	goOn := make(chan bool)
	runner := startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		s.started()
		late := s.chat.Messages[0].Content == "late"
		if choiceOf(s.request) == 1 {
			if late {
				await(ctx, goOn)
			}
			s.fail(queue.CodeInterrupted, "x")
			return
		}
		if late {
			s.text("part")
		}
		<-ctx.Done()
	})
	asked := 0
	cancelled := func(t *testing.T, body string) {
		t.Helper()
		e := decodeError(t, body)
		if e.Code != "interrupted" {
			t.Errorf("got %s", body)
		}
		asked += 3
		waittest.Until(t, "the runner has all choices", func() bool { return len(runner.seen()) >= asked }) // one may fail before
		for _, r := range runner.seen()[asked-3:] {
			if choiceOf(r) != 1 {
				waittest.Until(t, "choice "+r.ID+" is cancelled", func() bool { _, ok := runner.cancellation(r.ID); return ok })
			}
		}
	}
	for _, more := range []string{"", streaming} {
		r, body := w.do("POST", "/v1/chat/completions", chatBody(`,"n":3`+more))
		if r.StatusCode != http.StatusBadGateway {
			t.Errorf("status %d", r.StatusCode)
		}
		cancelled(t, body)
	}
	stream := w.open(waittest.Context(t), strings.Replace(chatBody(`,"n":3`+streaming), "hello", "late", 1))
	close(goOn)
	all, err := io.ReadAll(stream.Body)
	body := string(all)
	if err != nil || strings.Contains(body, "[DONE]") || !strings.Contains(body, `"content":"part"`) {
		t.Fatalf("%v: got %s", err, body)
	}
	cancelled(t, body[strings.LastIndex(body, "data: ")+len("data: "):])
}

// A client that leaves cancels all choices.
func TestChoicesOfAClientThatLeaves(t *testing.T) {
	w := newWorld(t, nil)
	runner := startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		s.started()
		s.text("x")
		<-ctx.Done()
	})
	ctx, leave := context.WithCancel(waittest.Context(t))
	w.open(ctx, chatBody(`,"n":4`+streaming))
	waittest.Until(t, "all choices run", func() bool { return len(runner.seen()) == 4 })
	leave()
	for _, r := range runner.seen() {
		waittest.Until(t, "a choice is cancelled", func() bool { _, ok := runner.cancellation(r.ID); return ok })
	}
}
