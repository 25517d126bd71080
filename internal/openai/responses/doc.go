// Package responses translates between OpenAI's Responses API, as Open Responses
// (https://www.openresponses.org) specifies it, and chats: a request becomes an
// openai.ChatRequest, and the pieces of its answer become items and events.
package responses
