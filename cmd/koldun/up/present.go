package up

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/local"
)

// present asks a served claim the question, and prints how to use its endpoint.
func (m *run) present(ctx context.Context, l *local.Local, r local.Root) error {
	what, served, err := offered(r.Object)
	if err != nil || !served || len(r.Endpoints) == 0 {
		return err
	}
	key := r.Object.Key()
	url := "http://" + r.Endpoints[0].Address + "/v1"
	var secret string // with the token
	var value []byte
	if !what.anonymous {
		if secret, value = anyToken(l.Secrets(key.Namespace)); secret == "" {
			m.say(fmt.Sprintf(needsToken, url, token.LabelSecret))
			return nil
		}
	}
	if what.model == "" {
		m.say(fmt.Sprintf("\n  Endpoint  %s\n\n  curl %s/models%s\n", url, url, header(secret)))
		return nil
	}
	if m.cfg.Ask != "" {
		if err := m.question(ctx, url, string(value), what.model); err != nil {
			return err
		}
	}
	m.say(usage(url, secret, what.model))
	return nil
}

// anyToken returns a Secret with a valid token.
func anyToken(secrets []local.Secret) (name string, value []byte) {
	slices.SortFunc(secrets, func(a, b local.Secret) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range secrets {
		t, err := token.Parse(token.Secret{Name: s.Name, Data: s.Data, Annotations: s.Annotations})
		if token.Truthy(s.Labels[token.LabelSecret]) && err == nil && t.Valid(time.Now()) && len(s.Data["token"]) > 0 {
			return s.Name, s.Data["token"]
		}
	}
	return "", nil
}

const needsToken = `
  Endpoint  %s

  It requires an API token, but the claims have none: add a Secret with the label
  %s: "true" and the token in its key "token", and send this process SIGHUP.
`

// header returns the header for curl. It does not show the token itself.
func header(secret string) string {
	if secret == "" {
		return ""
	}
	return ` -H "Authorization: Bearer $TOKEN"   # the key "token" of Secret ` + strconv.Quote(secret)
}

// questionTimeout bounds the question that koldun up asks.
const questionTimeout = 5 * time.Minute

func (m *run) question(ctx context.Context, url, token, model string) error {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	defer m.screen.Hold()()
	if _, err := fmt.Fprintf(m.out, "\n> %s\n", m.cfg.Ask); err != nil {
		return err
	}
	err := ask(ctx, url, strings.TrimSpace(token), model, m.cfg.Ask, m.out)
	if _, end := io.WriteString(m.out, "\n"); err == nil {
		err = end
	}
	return err
}

// say writes text; events wait until it is written.
func (m *run) say(text string) {
	defer m.screen.Hold()()
	_, _ = io.WriteString(m.out, text)
}

func usage(url, secret, model string) string {
	text := fmt.Sprintf(`
  Endpoint  %[1]s
  Model     %[2]s

  curl %[1]s/chat/completions -H 'Content-Type: application/json' -d '{"model": %[3]s, "messages": [{"role": "user", "content": "Tell me a joke"}]}'

  from openai import OpenAI
  client = OpenAI(base_url="%[1]s", api_key="none")
  answer = client.chat.completions.create(model=%[3]s, messages=[{"role": "user", "content": "Tell me a joke"}])
  print(answer.choices[0].message.content)
`, url, model, strconv.Quote(model))
	if secret != "" {
		text += fmt.Sprintf("\n  Both need the API token in the key \"token\" of Secret %q, as api_key and as -H \"Authorization: Bearer $TOKEN\".\n", secret)
	}
	return text
}
