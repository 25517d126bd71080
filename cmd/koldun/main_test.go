package main_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
)

const (
	models = "../../examples/models"
	answer = "Koldun turns a short YAML claim into a running, OpenAI-compatible language model service on distributed-llama."
)

func TestMain(m *testing.M) { programtest.Main(m, "") }

// Wrong arguments name the command whose help describes them.
func TestWrongArguments(t *testing.T) {
	for args, want := range map[string]string{
		"":                     "koldun --help describes them",
		"requests list --stat": "unknown flag --stat.*; koldun requests list --help describes them",
	} {
		p := programtest.Start(t, strings.Fields(args)...)
		p.Expect(t, want)
		if code := p.Exit(t); code == 0 {
			t.Errorf("koldun %s succeeds", args)
		}
	}
}
