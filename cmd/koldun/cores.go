package main

import (
	"os"
	"runtime"
)

// oneCore has this process use one core at a time, unless GOMAXPROCS says
// otherwise. A process that wakes for single messages and does a little each
// time spends more on waking a second thread than that could save, and the
// other cores of the machine have engines to run.
func oneCore() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

// halfTheCores does the same for a process that has work for several cores
// when many wait for it, but not for all: NATS and others run beside it.
func halfTheCores() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/2))
	}
}
