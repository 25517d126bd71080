package main

import (
	"os"
	"runtime"
)

// oneCore makes this process use one core at a time, unless GOMAXPROCS is set. A
// process that wakes for single messages and does little each time spends more on
// waking a second thread than that saves, and engines need the other cores.
func oneCore() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

// halfTheCores is oneCore for a process that has work for several cores under load:
// it leaves the others to NATS and other processes.
func halfTheCores() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/2))
	}
}
