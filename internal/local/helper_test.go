package local

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gorizond/koldun/internal/local/process"
)

// The test binary is also the program of containers: the first argument selects
// what it does.
func TestMain(m *testing.M) {
	if os.Getenv("KOLDUN_TEST_CHILD") == "" {
		os.Exit(m.Run())
	}
	process.ExitWithParent()
	os.Exit(child(os.Args[1], os.Args[2:]))
}

func child(mode string, args []string) int {
	switch mode {
	case "sleep":
		select {}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		touch(args[0], "")
		select {}
	case "serve":
		return childServe(args)
	case "exit":
		fmt.Fprintln(os.Stderr, "about to end")
		fmt.Fprintln(os.Stderr, args[1])
		code, _ := strconv.Atoi(args[0])
		return code
	case "fail-times":
		return childFailTimes(args)
	case "env":
		touch(args[0], strings.Join(os.Environ(), "\n"))
		select {}
	case "write":
		touch(args[0], args[1])
		return 0
	case "grandchild":
		return childGrandchild(args)
	case "up":
		return childUp(args)
	}
	fmt.Fprintln(os.Stderr, "unknown mode", mode)
	return 2
}

func touch(path, content string) {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, []byte(content), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		panic(err)
	}
}

// childServe answers on a port with its process id. If a file is named, it is
// ready while the file exists.
func childServe(args []string) int {
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if len(args) < 2 {
			return
		}
		if _, err := os.Stat(args[1]); err != nil {
			http.Error(w, "waiting for the file", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, os.Getpid()) })
	l, err := net.Listen("tcp", "127.0.0.1:"+args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = http.Serve(l, mux)
	return 1
}

// childFailTimes fails the first n times. It counts in a persistent folder.
func childFailTimes(args []string) int {
	n, _ := strconv.Atoi(args[0])
	path := filepath.Join(os.Getenv("KOLDUN_DIR_DATA"), "count")
	raw, _ := os.ReadFile(path)
	if len(raw) >= n {
		return 0
	}
	_ = os.WriteFile(path, append(raw, 'x'), 0o600)
	fmt.Fprintln(os.Stderr, "cannot do it, attempt", len(raw)+1)
	return 75
}

// childGrandchild starts a child process, and prints both process ids.
func childGrandchild(args []string) int {
	r, w, _ := os.Pipe()
	p, err := os.StartProcess(os.Args[0], []string{os.Args[0], "sleep"}, &os.ProcAttr{
		Env: os.Environ(), Files: []*os.File{nil, w, w},
	})
	if err != nil {
		panic(err)
	}
	defer func() { _ = r.Close() }()
	touch(args[0], fmt.Sprintf("%d %d", os.Getpid(), p.Pid))
	select {}
}

// childUp runs a Local until it is killed.
func childUp(args []string) int {
	data, err := OpenData(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	l, err := New(Config{
		Claims:   []Object{xr("a")},
		Data:     data,
		Composer: compose(deployment("a", 1, container("main", "grandchild", args[1]))),
		Managed:  &fakeManaged{},
		Binary:   os.Args[0],
		OwnImage: ownImage,
		Env:      []string{"KOLDUN_TEST_CHILD=1"},
	})
	if err != nil {
		panic(err)
	}
	err = l.Run(context.Background())
	fmt.Fprintln(os.Stderr, err)
	_, _ = io.WriteString(os.Stderr, "ended")
	return 1
}
