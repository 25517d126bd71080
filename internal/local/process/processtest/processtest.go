// Package processtest inspects the processes of this machine in tests.
package processtest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// State returns the state letter of a process, see proc(5), or "" if there is no
// such process or no /proc.
func State(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name before the state may contain any character.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndex(string(stat), ")")+1:]), " ")
	letter, _, _ := strings.Cut(rest, " ")
	return letter
}

// Alive reports whether a process runs or is stopped. A process that has ended
// is not alive, even if its parent has not waited for it yet.
func Alive(pid int) bool {
	if runtime.GOOS != "linux" {
		return syscall.Kill(pid, 0) == nil
	}
	s := State(pid)
	return s != "" && s != "Z" && s != "X"
}
