package chat_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/local/chat"
	"github.com/gorizond/koldun/internal/openai"
)

// A server answers each question with the number of messages that it got.
type server struct {
	requests []openai.ChatRequest
	hang     chan struct{} // nil: answers end
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Authorization") != "Bearer secret":
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error": {"message": "the token is wrong"}}`)
	case r.URL.Path == "/v1/models":
		_, _ = io.WriteString(w, `{"object": "list", "data": [{"id": "ns/first"}, {"id": "ns/second"}]}`)
	default:
		var body openai.ChatRequest
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.requests = append(s.requests, body)
		stream := openai.NewStream(openai.StreamOptions{ID: "a", Model: body.Model})
		out := stream.Reasoning(stream.Role(nil), "hm\x1b[2J")
		out = stream.Text(out, "Answer \x07to "+body.Messages[len(body.Messages)-1].Content)
		_, _ = w.Write(out)
		if s.hang != nil {
			_ = http.NewResponseController(w).Flush()
			close(s.hang)
			<-r.Context().Done()
			return
		}
		_, _ = w.Write(stream.Done(stream.Finish(nil, openai.FinishStop)))
	}
}

func (s *server) conversation(t *testing.T, out io.Writer) *chat.Conversation {
	t.Helper()
	ts := httptest.NewServer(s)
	t.Cleanup(ts.Close)
	return &chat.Conversation{Client: chat.Client{BaseURL: ts.URL + "/v1", Token: "secret"}, Model: "ns/first", Out: out}
}

// typed are lines that a person types.
type typed []string

func (l *typed) Line(string) (string, error) {
	if len(*l) == 0 {
		return "", io.EOF
	}
	line := (*l)[0]
	*l = (*l)[1:]
	return line, nil
}

func run(t *testing.T, c *chat.Conversation, lines ...string) {
	t.Helper()
	if err := c.Run(t.Context(), (*typed)(&lines), context.WithCancel); err != nil {
		t.Fatal(err)
	}
}

func TestConversation(t *testing.T) {
	var out strings.Builder
	s := &server{}
	file := filepath.Join(t.TempDir(), "saved.md")
	run(t, s.conversation(t, &out), "one", "", `two \`, "lines", "/system Be brief.", "/model ns/second", "three", "/retry", "/save "+file, "/clear", "four", "/quit", "never")
	var got []string
	for _, r := range s.requests {
		var all []string
		for _, m := range r.Messages {
			all = append(all, string(m.Role)+":"+m.Content)
		}
		got = append(got, r.Model+" "+strings.Join(all, "|"))
	}
	two := "user:one|assistant:Answer \x07to one|user:two \nlines"
	three := "ns/second system:Be brief.|" + two + "|assistant:Answer \x07to two \nlines|user:three"
	want := []string{"ns/first user:one", "ns/first " + two, three, three, "ns/second system:Be brief.|user:four"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if !strings.HasPrefix(out.String(), "Answer to one\n") {
		t.Errorf("got %q", out.String())
	}
	saved, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(saved), "# ns/second\n\n## system\n\nBe brief.\n\n## user\n\none\n") {
		t.Errorf("saved %q, %v", saved, err)
	}
}

func TestThoughtsAreDim(t *testing.T) {
	var out strings.Builder
	c := (&server{}).conversation(t, &out)
	c.Color = true
	run(t, c, "x")
	if want := "\x1b[2mhm[2J\x1b[0m\nAnswer to x\n\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// What is wrong is shown, and the conversation goes on.
func TestProblemsAreShown(t *testing.T) {
	for line, want := range map[string]string{
		"/nonsense":         "/nonsense is not a command: /help lists them",
		"/model ns/third":   `there is no model "ns/third": /models lists them`,
		"/retry":            "there is no question to ask again",
		"/save":             "/save needs the name of a file",
		"/save " + t.Name(): "",
		"/help":             "/models ",
		"/models":           "ns/first\nns/second\n",
	} {
		t.Run(line, func(t *testing.T) {
			t.Chdir(t.TempDir())
			var out strings.Builder
			s := &server{}
			run(t, s.conversation(t, &out), line, "next")
			if !strings.Contains(out.String(), want) || len(s.requests) != 1 {
				t.Errorf("got %q and %d requests", out.String(), len(s.requests))
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	var out strings.Builder
	c := (&server{}).conversation(t, &out)
	c.Client.Token = "wrong"
	run(t, c, "x", "/models")
	for _, want := range []string{"(cannot ask ns/first: 401 Unauthorized: the token is wrong)", "(cannot list the models of "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	}
}

// An interrupt ends an answer, of which the history keeps what came.
func TestInterrupt(t *testing.T) {
	var out strings.Builder
	s := &server{hang: make(chan struct{})}
	c := s.conversation(t, &out)
	lines := typed{"x"}
	first := true
	err := c.Run(t.Context(), &lines, func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		if first {
			first = false
			go func() {
				<-s.hang
				cancel()
			}()
		}
		return ctx, cancel
	})
	if err != nil || !strings.Contains(out.String(), "(interrupted)") {
		t.Errorf("got %q, %v", out.String(), err)
	}
}
