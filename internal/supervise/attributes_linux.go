package supervise

import "syscall"

// attributes make a process the leader of its group, and end it with the
// thread that has started it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
