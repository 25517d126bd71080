// Package openai holds the wire types of the OpenAI chat API as far as Koldun
// speaks it (https://platform.openai.com/docs/api-reference/chat), and the
// server-sent-event codec its streams use.
//
// Reading is strict about the types of what is known, and says which parameter
// is wrong; what is not known is kept and passed on.
package openai
