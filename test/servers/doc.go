// Package servers tests real OpenAI-compatible servers behind the queue: Ollama, and
// llama.cpp's server if LLAMA_SERVER_BIN names it.
package servers
