package main_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
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
		p := start(t, args...)
		if code := p.exit(t); code != 0 {
			t.Fatalf("koldun %s: exit status %d", args[0], code)
		}
		if args[0] == "topology" && !strings.Contains(p.text(), "4 key-value heads, q40 weights") {
			t.Errorf("topology: got %q", p.text())
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
			p := start(t, append([]string{"convert", "--from", fetched, "--to", to, "--name", "tiny"}, c.args...)...)
			if code := p.exit(t); code != c.code || !strings.Contains(p.text(), c.says) {
				t.Errorf("exit status %d, want %d and %q", code, c.code, c.says)
			}
			halfWritten(t, to)
		})
	}
}
