// Package gateway is Koldun's OpenAI-compatible HTTP API.
//
// A request is validated, stored once in the request stream, and only then
// held: from there on the dispatcher and the runners own it, and the gateway
// shows the frames they send. The gateway keeps no state that matters; when
// it dies, only the connections to its clients die with it.
package gateway
