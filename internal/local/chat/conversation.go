package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// A Conversation asks one model questions and keeps its history. It is not safe for
// concurrent use.
type Conversation struct {
	Client Client
	Model  string
	System string    // instructions before all turns; empty: none
	Out    io.Writer // of answers and notes
	Color  bool      // Out is a terminal: thoughts are dim

	turns []Turn
}

// Question sends a question with the history. The answer, or what came of it before
// ctx ended, becomes part of the history. If nothing came, the question does not
// either: ask it again.
func (c *Conversation) Question(ctx context.Context, question string) error {
	turns := slices.Clone(c.turns)
	if c.System != "" {
		turns = slices.Insert(turns, 0, Turn{openai.System, c.System})
	}
	asked := Turn{openai.User, question}
	w := &writer{out: c.Out, color: c.Color}
	err := c.Client.Ask(ctx, c.Model, append(turns, asked), w.write)
	if endErr := w.end(); err == nil {
		err = endErr
	}
	if answer := w.text.String(); answer != "" {
		c.turns = append(c.turns, asked, Turn{openai.Assistant, answer})
	}
	return err
}

const help = `/help            this list
/model [NAME]    show the model, or ask another one from now on
/models          list the models
/system [TEXT]   show the instructions, or set them; "-" removes them
/retry           ask the last question again
/clear           forget the conversation
/save FILE       write the conversation as Markdown; the file must not exist
/quit            end; Ctrl-D does the same
Ctrl-C ends an answer. A line that ends in \ goes on in the next.
`

// errQuit ends a terminal.
var errQuit = errors.New("quit") //nolint:gochecknoglobals // a sentinel

// Command carries out a line that begins with a slash. Errors say what is wrong with it
// and leave the conversation as it was.
func (c *Conversation) Command(ctx context.Context, line string) error {
	name, argument, _ := strings.Cut(strings.TrimSpace(line), " ")
	argument = strings.TrimSpace(argument)
	switch name {
	case "/help":
		return c.print(help)
	case "/model":
		return c.model(ctx, argument)
	case "/models":
		names, err := c.Client.Models(ctx)
		if err != nil {
			return err
		}
		return c.print(strings.Join(names, "\n") + "\n")
	case "/system":
		return c.system(argument)
	case "/retry":
		return c.retry(ctx)
	case "/clear":
		c.turns = nil
		return c.print("The conversation is empty.\n")
	case "/save":
		return c.save(argument)
	case "/quit", "/exit":
		return errQuit
	}
	return fmt.Errorf("%s is not a command: /help lists them", name)
}

func (c *Conversation) print(text string) error {
	_, err := io.WriteString(c.Out, clean(text))
	return err
}

// model shows or replaces the model.
func (c *Conversation) model(ctx context.Context, name string) error {
	if name == "" {
		return c.print(c.Model + "\n")
	}
	names, err := c.Client.Models(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("there is no model %q: /models lists them", name)
	}
	c.Model = name
	return nil
}

// system shows or replaces the instructions.
func (c *Conversation) system(text string) error {
	switch text {
	case "":
		if c.System == "" {
			return c.print("There are no instructions: /system TEXT sets them.\n")
		}
		return c.print(c.System + "\n")
	case "-":
		c.System = ""
	default:
		c.System = text
	}
	return nil
}

// retry asks the last question again, in place of its answer.
func (c *Conversation) retry(ctx context.Context) error {
	n := len(c.turns)
	if n < 2 {
		return errors.New("there is no question to ask again")
	}
	last := c.turns[n-2:]
	c.turns = c.turns[: n-2 : n-2]
	err := c.Question(ctx, last[0].Content)
	if len(c.turns) == n-2 { // nothing came
		c.turns = append(c.turns, last...)
	}
	return err
}

// save writes the conversation to a new file.
func (c *Conversation) save(path string) error {
	if path == "" {
		return errors.New("/save needs the name of a file")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", c.Model)
	for _, t := range append([]Turn{{openai.System, c.System}}, c.turns...) {
		if t.Content != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", t.Role, t.Content)
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("cannot save the conversation: %w", err)
	}
	_, err = f.WriteString(b.String())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cannot save the conversation: %w", err)
	}
	return nil
}
