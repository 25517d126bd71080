package up

import (
	"os/exec"

	"github.com/gorizond/koldun/internal/fault"
)

// findServers returns the programs of servers that pods run here by their names, and why
// this machine cannot: nil if it can.
func findServers() map[string]error {
	const ollama = "ollama"
	if _, err := exec.LookPath(ollama); err != nil {
		return map[string]error{ollama: fault.Errorf(fault.NotFound, "the program %q is not on PATH of this machine: install it from https://ollama.com/download", ollama)}
	}
	return map[string]error{ollama: nil}
}
