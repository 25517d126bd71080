package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// hold takes a port for this process until it ends, and reports whether no other process
// of the tests holds it: between the choice of a port and the start of its server another
// one could choose it, too.
func hold(port int) bool {
	file := filepath.Join(os.TempDir(), fmt.Sprintf("koldun-test-port-%d", port))
	fd, err := syscall.Open(file, syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return false
	}
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = syscall.Close(fd)
		return false
	}
	return true
}
