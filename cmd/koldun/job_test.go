package main_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
)

func TestJobsByHand(t *testing.T) {
	source, err := filepath.Abs(models + "/koldun-tiny")
	if err != nil {
		t.Fatal(err)
	}
	fetched, converted := t.TempDir(), t.TempDir()
	steps := [][]string{
		{"fetch", "--from", "file://" + source, "--to", fetched},
		{"convert", "--from", fetched, "--to", converted, "--name", "tiny"},
		{"verify", converted},
		{"topology", converted},
	}
	for _, args := range steps {
		p := programtest.Start(t, args...)
		if code := p.Exit(t); code != 0 {
			t.Fatalf("koldun %s: exit status %d", args[0], code)
		}
		if args[0] == "topology" && !strings.Contains(p.Text(), "4 key-value heads, q40 weights") {
			t.Errorf("topology: got %q", p.Text())
		}
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = busy.Close() })
	cases := map[string]struct {
		args []string
		code int
		says string
	}{
		"Deadline":    {[]string{"--deadline", "1ns"}, 75, "cannot convert within 1ns"},
		"MetricsPort": {[]string{"--metrics-listen", busy.Addr().String()}, 15, "in use"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			to := t.TempDir()
			p := programtest.Start(t, append([]string{"convert", "--from", fetched, "--to", to, "--name", "tiny"}, c.args...)...)
			if code := p.Exit(t); code != c.code || !strings.Contains(p.Text(), c.says) {
				t.Errorf("exit status %d, want %d and %q", code, c.code, c.says)
			}
			programtest.NothingHalfWritten(t, to)
		})
	}
}
