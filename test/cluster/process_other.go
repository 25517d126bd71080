//go:build !linux

package cluster

import "syscall"

// dieWithParent only shields the child from the terminal's signals on this system: a
// killed test leaves its programs behind.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
