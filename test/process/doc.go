// Package process runs a foreign server of a test as a group of processes, and kills
// and restarts it.
package process
