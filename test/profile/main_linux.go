// Command profile runs commands one after another, and prints where their CPU time went.
//
//	profile NAME='make check' NAME2='go test ./...' ...
//
// Each argument is a suite: its name, and a command for sh. The output is a table in
// Markdown with a row per suite: wall time, CPU time by program, and how many control
// planes were started. Output of the commands goes to standard error. The exit status is 1
// if a command failed.
//
// CPU time is sampled from /proc five times a second for all descendants, so a program that
// lives shorter is not seen. What the kernel counts in all is exact, but for processes whose
// parent ended before them; the rest is in the column "short-lived".
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// samplePeriod is short enough that compilations, which take most of what tests do not,
// are seen, and long enough that reading /proc takes about a percent of a CPU.
const samplePeriod = 200 * time.Millisecond

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: profile NAME=COMMAND ...")
		os.Exit(2)
	}
	status := 0
	fmt.Println(header())
	for _, arg := range os.Args[1:] {
		name, command, ok := strings.Cut(arg, "=")
		if !ok {
			fmt.Fprintf(os.Stderr, "profile: cannot read suite %q: it is not NAME=COMMAND\n", arg)
			os.Exit(2)
		}
		m, err := measure(command)
		if err != nil {
			fmt.Fprintf(os.Stderr, "profile: cannot run suite %q: %v\n", name, err)
			status = 1
		}
		fmt.Println(m.row(name))
		fmt.Fprint(os.Stderr, m.programs(name, 20))
	}
	os.Exit(status)
}

// A measurement is what a suite has used.
type measurement struct {
	wall          time.Duration
	total         time.Duration // CPU time as the kernel counts it
	byColumn      map[string]time.Duration
	byProgram     map[string]time.Duration
	controlPlanes int
}

// measure runs a command to its end. An interrupt goes to the command as well.
func measure(command string) (measurement, error) {
	signal.Ignore(syscall.SIGINT)
	defer signal.Reset(syscall.SIGINT)
	before := childrenTime()
	begin := time.Now()
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		return measurement{}, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()

	seen := processes{}
	tick := time.NewTicker(samplePeriod)
	defer tick.Stop()
	var err error
	for running := true; running; {
		seen.sample()
		select {
		case err = <-done:
			running = false
		case <-tick.C:
		}
	}
	m := measurement{wall: time.Since(begin), total: childrenTime() - before, byColumn: map[string]time.Duration{}, byProgram: map[string]time.Duration{}}
	for _, p := range seen {
		m.byColumn[p.column] += p.cpu
		m.byProgram[p.name] += p.cpu
		if p.column == apiServer {
			m.controlPlanes++
		}
	}
	return m, err
}

func childrenTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
