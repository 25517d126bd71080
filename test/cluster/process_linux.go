package cluster

import "syscall"

// dieWithParent makes the kernel kill the child when the thread that started it ends,
// for example because the test is killed.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
