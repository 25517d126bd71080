//go:build !linux

package cluster

import "syscall"

// dieWithParent can only keep the terminal's signals away here: a test that is
// killed leaves its programs behind.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
