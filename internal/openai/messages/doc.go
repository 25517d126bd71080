// Package messages translates between Anthropic's Messages API and chats: a request
// becomes an openai.ChatRequest, and the pieces of its answer become blocks and events.
package messages
