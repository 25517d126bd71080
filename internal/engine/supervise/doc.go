// Package supervise runs one engine process and restarts it. It is the first
// process of a container of distributed-llama.
//
// Those engines need it: as process 1 they ignore SIGTERM. A worker exits if its
// root disconnects while it loads, and the root fails unless the worker is back
// within seconds. They have no health endpoint, and a bare connection to their
// port ends them. They print every prompt and completion.
//
// So the supervisor reads the state of the engine from its output and from the
// kernel's table of sockets, and never connects to an engine's port. It replaces
// lines that are not known to be harmless by their length.
//
// A ring cannot do without any of its nodes, so the supervisor of the root follows
// those of the workers, and restarts the root as soon as one has lost its session.
package supervise
