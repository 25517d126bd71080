// Package supervise runs one engine process and keeps it running: it is the
// first process of a container of distributed-llama.
//
// It exists because of what those engines do. As process 1 they ignore
// SIGTERM. A worker whose root goes away while it loads exits, and the root
// does not converge unless the worker is back within seconds. They have no
// health endpoint, and a bare connect to their port ends them. And they print
// every prompt and completion.
//
// So the state of the engine is read from its output and from the kernel's
// table of sockets, and nothing here ever connects to an engine's port.
// Lines that are not known to be harmless are withheld, with their length.
package supervise
