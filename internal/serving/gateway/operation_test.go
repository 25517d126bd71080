package gateway

import (
	"context"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"

	"github.com/gorizond/koldun/test/waittest"
)

func TestOfficialClientCompletes(t *testing.T) {
	w := newWorld(t, nil)
	client := w.client()
	runner := startRunner(t, w.bus, tinySession, replies("there", " was", " a <think>"))
	params := openai.CompletionNewParams{
		Model:  "tiny",
		Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("Once")},
		Stop:   openai.CompletionNewParamsStopUnion{OfString: openai.String("\n")},
	}
	const want = "there was a <think>"

	t.Run("Whole", func(t *testing.T) {
		got, err := client.Completions.New(waittest.Context(t), params)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(got.ID, "cmpl-") || got.Object != "text_completion" || got.Model != "default/tiny" || len(got.Choices) != 1 ||
			got.Choices[0].Text != want || got.Choices[0].FinishReason != "stop" || got.Usage.TotalTokens != 8 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("Stream", func(t *testing.T) {
		params := params
		params.StreamOptions.IncludeUsage = openai.Bool(true)
		stream := client.Completions.NewStreaming(waittest.Context(t), params)
		var text, finish string
		var tokens int64
		for stream.Next() {
			c := stream.Current()
			tokens += c.Usage.TotalTokens
			for _, choice := range c.Choices {
				text += choice.Text
				finish += string(choice.FinishReason)
			}
		}
		if err := stream.Err(); err != nil || text != want || finish != "stop" || tokens != 8 {
			t.Errorf("text %q, finish %q, %d tokens, %v", text, finish, tokens, err)
		}
	})
	t.Run("WhatTheRunnerGets", func(t *testing.T) {
		const body = `{"max_completion_tokens":16,"messages":[{"role":"user","content":"Once"}],"model":"default/tiny","stop":["\n"]}`
		if got := string(runner.seen()[0].Body); got != body {
			t.Errorf("got %s", got)
		}
	})
	t.Run("Refused", func(t *testing.T) {
		params := params
		params.Suffix = openai.String("end")
		_, err := client.Completions.New(waittest.Context(t), params)
		wantAPIError(t, err, 400, "unsupported_parameter", "suffix")
	})
}

func TestThoughts(t *testing.T) {
	w := newWorld(t, nil)
	inline := w.another(func(c *Config, _ *timing) { c.Reasoning = "inline" })
	startRunner(t, w.bus, tinySession, replies("<th", "ink>\nHm", ", two.</think>", "\n\n", "Tw", "o."))
	const raw = "<think>\nHm, two.</think>\n\nTwo."
	cases := map[string]struct {
		w              *world
		more           string
		thoughts, text string
	}{
		"Separate":       {w, "", "Hm, two.", "Two."},
		"AskedInline":    {w, `,"separate_reasoning":false`, "", raw},
		"AskedHidden":    {w, `,"include_reasoning":false`, "", "Two."},
		"Inline":         {inline, "", "", raw},
		"AskedSeparate":  {inline, `,"separate_reasoning":true`, "Hm, two.", "Two."},
		"AskedInclusion": {inline, `,"include_reasoning":true`, "Hm, two.", "Two."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			type message struct {
				Content   string `json:"content"`
				Reasoning string `json:"reasoning_content"`
			}
			var whole struct {
				Choices []struct{ Message message }
			}
			r, body := c.w.do("POST", "/v1/chat/completions", chatBody(c.more))
			decode(t, body, &whole)
			if got := whole.Choices[0].Message; r.Header.Get("X-Koldun-Ignored") != "" || got.Content != c.text || got.Reasoning != c.thoughts {
				t.Errorf("whole: %+v", got)
			}
			if c.thoughts == "" && strings.Contains(body, "reasoning_content") {
				t.Errorf("an empty thought: %s", body)
			}
			_, body = c.w.do("POST", "/v1/chat/completions", chatBody(c.more+streaming))
			var got message
			for _, event := range strings.Split(body, "\n\n") {
				data, ok := strings.CutPrefix(event, "data: {")
				if !ok {
					continue
				}
				var chunk struct {
					Choices []struct{ Delta message }
				}
				decode(t, "{"+data, &chunk)
				got.Content += chunk.Choices[0].Delta.Content
				got.Reasoning += chunk.Choices[0].Delta.Reasoning
			}
			if got.Content != c.text || got.Reasoning != c.thoughts {
				t.Errorf("stream: %+v", got)
			}
		})
	}
}

// TestThoughtsThatBreakOff checks that an unfinished tag is sent at the end.
func TestThoughtsThatBreakOff(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, func(_ context.Context, s *responder) {
		s.started()
		s.text("<think>a</thi")
		s.end("length", 1, 3)
	})
	for how, more := range map[string]string{"Whole": "", "Stream": streaming} {
		if _, body := w.do("POST", "/v1/chat/completions", chatBody(more)); !strings.Contains(body, `</thi"`) || !strings.Contains(body, `"finish_reason":"length"`) {
			t.Errorf("%s: %s", how, body)
		}
	}
}
