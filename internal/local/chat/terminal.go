package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// Lines reads what a person types.
type Lines interface {
	// Line blocks for the next line, without its end. It returns io.EOF at the end.
	Line(prompt string) (string, error)
}

// prompts of the first line of a question, and of its others.
const (
	promptFirst = "> "
	promptMore  = "… "
)

// Run answers questions and carries out commands until the end of the lines, /quit, or
// the end of ctx. interruptible returns the context of one answer. Errors of a question
// or command are shown, and the conversation goes on; the error of Run is one of lines.
func (c *Conversation) Run(ctx context.Context, lines Lines, interruptible func(context.Context) (context.Context, context.CancelFunc)) error {
	for ctx.Err() == nil {
		line, err := question(lines)
		switch {
		case errors.Is(err, io.EOF):
			return c.print("\n")
		case err != nil:
			return fmt.Errorf("cannot read the terminal: %w", err)
		case strings.TrimSpace(line) == "":
			continue
		}
		answer, done := interruptible(ctx)
		if strings.HasPrefix(line, "/") {
			err = c.Command(answer, line)
		} else {
			err = c.Question(answer, line)
		}
		if ended := answer.Err() != nil; ended && ctx.Err() == nil {
			err = errors.New("interrupted")
		}
		done()
		if errors.Is(err, errQuit) {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			if err := c.print("(" + err.Error() + ")\n"); err != nil {
				return err
			}
		}
	}
	return fault.Errorf(fault.Interrupted, "interrupted")
}

// question reads a question, whose lines but the last end in a backslash.
func question(lines Lines) (string, error) {
	var all []string
	prompt := promptFirst
	for {
		line, err := lines.Line(prompt)
		if err != nil {
			return "", err
		}
		rest, more := strings.CutSuffix(line, `\`)
		all = append(all, rest)
		if !more {
			return strings.Join(all, "\n"), nil
		}
		prompt = promptMore
	}
}
