package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/gorizond/koldun/internal/local"
)

// introduce asks a claim that can be asked a question, and says how to go on.
func (m *machine) introduce(ctx context.Context, r local.Root) error {
	var status struct {
		Model string `json:"model"`
	}
	if err := r.Object.Decode(&status, "status"); err != nil {
		return err
	}
	if status.Model == "" || len(r.Endpoints) == 0 {
		return nil
	}
	url := "http://" + r.Endpoints[0].Address + "/v1"
	if m.cmd.Ask != "" {
		if err := m.question(ctx, url, status.Model); err != nil {
			return err
		}
	}
	m.say(usage(url, status.Model))
	return nil
}

// questionTimeout bounds the one question that koldun up asks.
const questionTimeout = 5 * time.Minute

func (m *machine) question(ctx context.Context, url, model string) error {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	defer m.screen.Hold()()
	if _, err := fmt.Fprintf(m.out, "\n> %s\n", m.cmd.Ask); err != nil {
		return err
	}
	err := ask(ctx, url, model, m.cmd.Ask, m.out)
	if _, end := io.WriteString(m.out, "\n"); err == nil {
		err = end
	}
	return err
}

// say writes without being interrupted by what happens meanwhile.
func (m *machine) say(text string) {
	defer m.screen.Hold()()
	_, _ = io.WriteString(m.out, text)
}

func usage(url, model string) string {
	return fmt.Sprintf(`
  Endpoint  %[1]s
  Model     %[2]s

  curl %[1]s/chat/completions -H 'Content-Type: application/json' -d '{"model": %[3]s, "messages": [{"role": "user", "content": "Tell me a joke"}]}'

  from openai import OpenAI
  client = OpenAI(base_url="%[1]s", api_key="none")
  answer = client.chat.completions.create(model=%[3]s, messages=[{"role": "user", "content": "Tell me a joke"}])
  print(answer.choices[0].message.content)
`, url, model, strconv.Quote(model))
}
