package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU times in /proc/PID/stat, which is the same on all Linux
// systems that Go supports: see proc_pid_stat(5) and sysconf(_SC_CLK_TCK).
const clockTick = time.Second / 100

// A process is what was last seen of one.
type process struct {
	name   string // of its program
	column string
	cpu    time.Duration
}

// key tells a process from a later one with the same PID.
type key struct {
	pid   int
	start string // in clock ticks since boot
}

type processes map[key]*process

// stat is a line of /proc/PID/stat.
type stat struct {
	parent int
	start  string
	cpu    time.Duration
}

// sample looks at all descendants of this process. It knows a process whose parent has ended,
// and so its children, if it has seen it before.
func (s processes) sample() {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	all := map[int]stat{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if st, ok := readStat(pid); ok {
			all[pid] = st
		}
	}
	self := os.Getpid()
	for pid, st := range all {
		k := key{pid: pid, start: st.start}
		p := s[k]
		if p == nil && !s.descends(all, pid, self) {
			continue
		}
		if p == nil {
			p = &process{}
			s[k] = p
		}
		// The program of a process changes once, after fork. Names of others do not.
		if name := program(pid); name != "" && name != p.name {
			p.name, p.column = name, column(pid, name)
		}
		p.cpu = st.cpu
	}
}

// descends reports whether a process is a descendant of this one, self, or of one that was.
func (s processes) descends(all map[int]stat, pid, self int) bool {
	for range len(all) {
		st, ok := all[pid]
		if !ok || pid == self || st.parent == 0 {
			return false
		}
		if parent, ok := all[st.parent]; st.parent == self || ok && s[key{pid: st.parent, start: parent.start}] != nil {
			return true
		}
		pid = st.parent
	}
	return false
}

// readStat returns false if the process has ended.
func readStat(pid int) (stat, bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, false
	}
	// The name is in parentheses, and may contain anything.
	_, rest, ok := cutLast(string(raw), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return stat{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return stat{}, false
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return stat{parent: parent, start: fields[19], cpu: time.Duration(user+system) * clockTick}, true
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// program returns the base name of a process's first argument. One binary is kube-apiserver,
// kubelet and others by that name.
func program(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(raw) == 0 {
		return ""
	}
	first, _, _ := strings.Cut(string(raw), "\x00")
	return filepath.Base(first)
}

func column(pid int, name string) string {
	switch name {
	case "compile", "asm", "cgo", "cc1", "cc1plus", "as":
		return compile
	case "link", "ld", "collect2":
		return link
	case "kube-apiserver":
		return apiServer
	case "etcd":
		return etcd
	case "crossplane":
		return crossplane
	}
	switch {
	case strings.HasSuffix(name, ".test") && raced(pid):
		return racedTests
	case strings.HasSuffix(name, ".test"):
		return tests
	case strings.HasPrefix(name, "koldun"), strings.HasSuffix(name, "-koldun"):
		return ours
	}
	return others
}

// raced says whether the program of a process was built with the race detector.
func raced(pid int) bool {
	info, err := buildinfo.ReadFile(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}
