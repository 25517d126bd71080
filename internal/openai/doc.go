// Package openai holds the wire types of the OpenAI chat API as far as Koldun
// speaks it (https://platform.openai.com/docs/api-reference/chat), and the
// server-sent-event codec its streams use.
//
// Decoding is strict about the types of known fields, and its errors name the
// parameter. It keeps unknown fields and passes them on.
package openai
