// Package gateway is Koldun's OpenAI-compatible HTTP API.
//
// The gateway validates a request, stores it once in the request stream, and
// only then waits for its answer: from there on the dispatcher and the runners
// own the request, and the gateway writes the frames that they send. It keeps no
// state that outlives it: if it dies, only its clients' connections are lost.
//
// Files know only files of earlier steps: what a refusal is and how it is written; the
// Gateway, which the handlers share; a reply, a generation and choices, which bring an
// answer from the queue to the client; the handlers; the list of endpoints.
package gateway
