package main

import (
	"testing"

	"github.com/alecthomas/kong"

	"github.com/gorizond/koldun/internal/engine"
)

// The composed pods leave these flags out when a claim sets no grace, and both
// processes of a pod get their signal to stop at the same time.
func TestEngineOutlivesItsSidecar(t *testing.T) {
	var cli CLI
	p, err := kong.New(&cli, kong.Vars{"image": "koldun"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse([]string{"llm", "--session=s", "--runner=r", "--model=ns/m"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse([]string{"engine", "api", "--model=m", "--tokenizer=t"}); err != nil {
		t.Fatal(err)
	}
	if cli.LLM.Grace != engine.AnswerGrace || cli.Engine.API.Grace <= engine.AnswerGrace {
		t.Errorf("the sidecar has %v and the engine %v, want %v and more than that", cli.LLM.Grace, cli.Engine.API.Grace, engine.AnswerGrace)
	}
}
