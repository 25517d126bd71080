// Package history records what clients, engines and the queue saw of requests, and
// checks it against the guarantees in docs/background/guarantees.md. The test engine answers each
// prompt with text that no other generation has.
package history
