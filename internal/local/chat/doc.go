// Package chat holds a conversation with a model from a terminal, over any
// OpenAI-compatible API.
package chat
