// Package ollama runs Ollama, a real OpenAI-compatible server, with the tiny model.
//
// Tests that need it skip if bin/ollama is not built, and fail if
// KOLDUN_REQUIRE_CLUSTER is 1, as in CI.
package ollama
