// Package serving tests the whole request path as it runs in a cluster: real
// processes of the koldun binary, a NATS server in its own process, and fakes of
// dllama-api. Its tests kill and freeze processes, cut connections, and check
// what clients received against the guarantees in docs/background/guarantees.md. Its benchmarks
// measure the latency and CPU time that Koldun adds to an engine.
package serving
