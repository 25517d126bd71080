package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestLastWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "termination-log")
	lastWords(path, errors.New("no such program"))
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was created outside of a container")
	}
	if err := os.WriteFile(path, []byte("a longer text of the container before it"), 0o600); err != nil {
		t.Fatal(err)
	}
	lastWords(path, errors.New("no such program"))
	if text, err := os.ReadFile(path); err != nil || string(text) != "no such program\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}
