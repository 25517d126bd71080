//go:build !linux

package node

// guard does nothing: the memory of a process is read from /proc.
func (l *podWorker) guard(string, int, int64) {}
