//go:build tools

// Package tools pins Ollama, a real OpenAI-compatible server for tests. Later
// versions do not build from their module: its archive lacks folders named vendor.
package tools

import _ "github.com/ollama/ollama/cmd"
