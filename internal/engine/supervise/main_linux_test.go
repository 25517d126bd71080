package supervise

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The test binary is also the supervised process: its arguments select the
// behavior.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != "worker" && os.Args[1] != "api" && os.Args[1] != "init" {
		os.Exit(m.Run())
	}
	mode, arg := os.Args[2], ""
	if len(os.Args) > 3 {
		arg = os.Args[3]
	}
	switch mode {
	case "exit":
		os.Exit(7)
	case "deaf": // ignores SIGTERM
		signal.Ignore(syscall.SIGTERM)
		say("Listening on 0.0.0.0:1...")
		select {}
	case "worker": // listens, and is busy after a client connects
		worker(arg, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) })
	case "hangs": // the same, but hangs when a client connects
		worker(arg, func(net.Conn) { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) })
	case "api": // listens and answers by closing, once the peer does
		l := listen()
		say("💿 Weights loaded\n" + process().TextBegin + "secret prompt🔸secret answer" + process().TextEnd + "\nmore secrets")
		for {
			c, err := l.Accept()
			if err != nil {
				os.Exit(1)
			}
			_, _ = c.Read(make([]byte, 1))
			_ = c.Close()
		}
	case "loads": // for ever
		say("💿 Loading weights...\n💿 Loaded 8/32")
		for { // in a system call: a program whose goroutines all wait in Go ends
			_ = syscall.Pause()
		}
	case "leaver": // leaves a process in another session that holds the output
		cmd := exec.Command("/bin/sh", "-c", "sleep 30")
		cmd.Stdout, cmd.SysProcAttr = os.Stdout, &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		say("left " + strconv.Itoa(cmd.Process.Pid))
		os.Exit(0)
	case "orphans":
		orphans()
	case "parent": // creates an orphan that ends
		cmd := exec.Command("/bin/sh", "-c", "(exit 3) & echo orphan $!; exec true")
		cmd.Stdout = os.Stdout
		_ = cmd.Run()
		select {}
	}
}

func say(line string) { _, _ = fmt.Println(line) }

func listen() net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return l
}

// worker serves one client at a time, from its connect to its disconnect.
func worker(portFile string, attend func(net.Conn)) {
	for {
		l := listen()
		if err := os.WriteFile(portFile+".tmp", []byte(l.Addr().String()), 0o600); err != nil {
			panic(err)
		}
		if err := os.Rename(portFile+".tmp", portFile); err != nil {
			panic(err)
		}
		say("Listening on " + l.Addr().String() + "...")
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		_ = l.Close()
		say("⭕ The root node has connected\n💿 Loaded block_matmul_q      0,       24 kB\n💿 Weights loaded")
		attend(c)
		say("⭕ Network is closed")
	}
}

// orphans runs a supervisor that inherits orphans, as process 1 does.
func orphans() {
	if err := becomeSubreaper(); err != nil {
		panic(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err := Run(ctx, Config{Engine: process(), Command: []string{os.Args[0], "api", "parent"}, Init: true, Output: os.Stdout})
	if err != nil && !strings.Contains(err.Error(), "canceled") {
		panic(err)
	}
}
