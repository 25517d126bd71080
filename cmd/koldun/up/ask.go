package up

import (
	"context"
	"io"

	"github.com/gorizond/koldun/internal/local/chat"
	"github.com/gorizond/koldun/internal/openai"
)

// ask sends one question and streams the answer to w. The API token may be empty.
func ask(ctx context.Context, baseURL, token, model, question string, w io.Writer) error {
	return chat.Client{BaseURL: baseURL, Token: token}.Ask(ctx, model, []chat.Turn{{Role: openai.User, Content: question}}, func(p chat.Part) error {
		_, err := io.WriteString(w, p.Text)
		return err
	})
}
