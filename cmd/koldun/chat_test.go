package main_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/internal/openai"
)

// TestChatAnswersAPipe asks one question on standard input.
func TestChatAnswersAPipe(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.URL.Path == "/v1/models" {
			_, _ = io.WriteString(w, `{"object": "list", "data": [{"id": "ns/first"}]}`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		stream := openai.NewStream(openai.StreamOptions{Model: "ns/first"})
		out := stream.Reasoning(nil, "thoughts")
		out = stream.Text(out, "asked by "+string(body))
		_, _ = w.Write(stream.Done(out))
	}))
	defer server.Close()
	for name, c := range map[string]struct {
		token, want string
		fails       bool
	}{
		"Answer":  {token: "secret", want: `asked by {"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"two\nlines"}],"model":"ns/first","stream":true}` + "\n"},
		"Refusal": {token: "wrong", want: "OPENAI_API_KEY", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), programtest.Path(t), "chat", "--url", server.URL+"/v1", "--system", "Be brief.")
			cmd.Env = append(cmd.Environ(), "OPENAI_API_KEY="+c.token)
			cmd.Stdin = strings.NewReader("two\nlines\n")
			out, err := cmd.CombinedOutput()
			if (err != nil) != c.fails || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "thoughts") {
				t.Errorf("got %q, %v", out, err)
			}
		})
	}
}
