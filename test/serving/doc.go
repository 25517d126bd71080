// Package serving tries the whole request path as it runs in a cluster: real
// processes of one binary, a NATS server in a process of its own, and doubles
// of dllama-api. Its tests kill, stop and cut what they can and hold what
// clients saw against what is promised; its benchmarks measure what Koldun
// adds to an engine.
package serving
