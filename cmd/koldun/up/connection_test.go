package up_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
)

// koldun requests connects to a running koldun up, by default to that of the working
// directory.
func TestRequestsFindTheRunningUp(t *testing.T) {
	t.Setenv(names.EnvNATSURL, "")
	dir := t.TempDir()
	data := filepath.Join(dir, ".koldun")
	looks := func(status int, dir string, env []string, args []string, want string) {
		t.Helper()
		p := programtest.StartIn(t, dir, env, append([]string{"requests"}, args...)...)
		if got := p.Exit(t); got != status {
			t.Errorf("koldun requests %v: exit status %d, want %d", args, got, status)
		}
		if !strings.Contains(p.Text(), want) {
			t.Errorf("koldun requests %v: output lacks %q:\n%s", args, want, p.Text())
		}
	}
	looks(12, dir, nil, []string{"list"}, "no koldun up runs in")

	p := up(t, data)
	p.Expect(t, `Press Ctrl-C to stop`) // the question was answered
	looks(0, dir, nil, []string{"list"}, "default/koldun-tiny")
	looks(0, "", nil, []string{"--data", data, "list"}, "default/koldun-tiny")
	looks(0, "", nil, []string{"list", "--data", data}, "default/koldun-tiny")
	looks(12, dir, nil, []string{"show", "req_none"}, "neither waiting nor")

	// The environment overrides the file of koldun up, and a flag overrides both.
	other := natstest.Start(t)
	env := []string{names.EnvNATSURL + "=" + other.URL(), names.EnvNATSUser + "=" + natstest.User, names.EnvNATSPassword + "=" + natstest.Password}
	looks(12, dir, env, []string{"list"}, "cannot list requests")
	looks(0, dir, env, []string{"list", "--data", data}, "default/koldun-tiny")

	file := filepath.Join(data, "nats.env")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file with the password has mode %v, want 0600", info.Mode())
	}
	// A killed koldun up does not delete its file.
	left, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p.Interrupt(t)
	if code := p.Exit(t); code != 0 {
		t.Errorf("exit status %d", code)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file with the password still exists: %v", err)
	}
	if err := os.WriteFile(file, left, 0o600); err != nil {
		t.Fatal(err)
	}
	looks(12, dir, nil, []string{"list"}, "no koldun up runs in")
}
