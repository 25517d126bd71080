// Package processtest looks at processes of this machine, for tests.
package processtest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// State is the letter that proc(5) has for what a process does, "" if there is
// no such process, or no /proc.
func State(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name before it may hold anything.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndex(string(stat), ")")+1:]), " ")
	letter, _, _ := strings.Cut(rest, " ")
	return letter
}

// Alive reports whether a process runs or is stopped. One that has ended does
// not, whether somebody has waited for it or not.
func Alive(pid int) bool {
	if runtime.GOOS != "linux" {
		return syscall.Kill(pid, 0) == nil
	}
	s := State(pid)
	return s != "" && s != "Z" && s != "X"
}
