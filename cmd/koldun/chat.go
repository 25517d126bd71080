package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/chat"
)

// maxPiped bounds a question that does not come from a terminal, in bytes.
const maxPiped = 8 << 20

// ChatCmd talks to a model of any OpenAI-compatible API.
type ChatCmd struct {
	Model     string `arg:"" optional:"" help:"Model to ask. Default: the first that the API lists."`
	URL       string `name:"url" env:"OPENAI_BASE_URL" default:"http://127.0.0.1:8082/v1" help:"Base URL of the API, with the version. The default is that of the quickstart."`
	TokenFile string `type:"existingfile" placeholder:"FILE" help:"File with the API token. Default: $OPENAI_API_KEY."`
	System    string `help:"Instructions for the model."`
}

// Run talks on a terminal. A question on standard input that is not a terminal is
// answered, and that is all.
func (c *ChatCmd) Run(ctx context.Context) error {
	token := os.Getenv("OPENAI_API_KEY")
	if c.TokenFile != "" {
		raw, err := os.ReadFile(c.TokenFile)
		if err != nil {
			return fmt.Errorf("cannot read the API token: %w", err)
		}
		token = string(raw)
	}
	talk := chat.Conversation{
		Client: chat.Client{BaseURL: c.URL, Token: strings.TrimSpace(token)}, Model: c.Model, System: c.System,
		Out: os.Stdout, Color: term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "",
	}
	if err := c.choose(ctx, &talk); err != nil {
		return err
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		question, err := io.ReadAll(io.LimitReader(os.Stdin, maxPiped+1))
		if err != nil {
			return fmt.Errorf("cannot read the question: %w", err)
		}
		if len(question) > maxPiped {
			return fault.Errorf(fault.Invalid, "cannot read the question: it has more than %d bytes", maxPiped)
		}
		return talk.Question(ctx, strings.TrimSpace(string(question)))
	}
	fmt.Printf("%s at %s. /help lists the commands, Ctrl-D ends.\n", talk.Model, c.URL)
	// An interrupt ends an answer, not the program. SIGTERM ends it at once, as nothing
	// could interrupt the reading of a line.
	signal.Reset(syscall.SIGTERM)
	return talk.Run(context.WithoutCancel(ctx), newKeyboard(), func(ctx context.Context) (context.Context, context.CancelFunc) {
		return signal.NotifyContext(ctx, os.Interrupt)
	})
}

// choose checks the model, or takes the first.
func (c *ChatCmd) choose(ctx context.Context, talk *chat.Conversation) error {
	models, err := talk.Client.Models(ctx)
	if err != nil {
		return fmt.Errorf("%w; --url names another API, OPENAI_API_KEY its token", err)
	}
	if talk.Model == "" && len(models) == 0 {
		return fault.Errorf(fault.NotFound, "cannot ask %s: it offers no model", c.URL)
	}
	talk.Model = cmp.Or(talk.Model, append(models, "")[0])
	return nil
}

// A keyboard reads lines from the terminal, with editing and history.
type keyboard struct{ terminal *term.Terminal }

func newKeyboard() *keyboard {
	return &keyboard{term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{os.Stdin, os.Stdout}, "")}
}

// Line implements chat.Lines. The terminal reads single keys only meanwhile, so that an
// interrupt during an answer is a signal. At the prompt it is the end.
func (k *keyboard) Line(prompt string) (line string, err error) {
	before, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return "", err
	}
	defer func() {
		k.terminal.SetBracketedPasteMode(false)
		err = errors.Join(err, term.Restore(int(os.Stdin.Fd()), before))
	}()
	if width, height, err := term.GetSize(int(os.Stdin.Fd())); err == nil && width > 0 {
		if err := k.terminal.SetSize(width, height); err != nil {
			return "", err
		}
	}
	k.terminal.SetBracketedPasteMode(true)
	k.terminal.SetPrompt(prompt)
	line, err = k.terminal.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return line, err
}
