package process

import (
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/gorizond/koldun/test/waittest"
)

// A Server is a server program that runs until the test ends. If the test fails, its
// output is logged.
type Server struct {
	tb   testing.TB
	o    Options
	mu   sync.Mutex
	runs *exec.Cmd // nil: it does not run
}

// Options describe a server.
type Options struct {
	Name    string           // in messages
	Command func() *exec.Cmd // makes the command of one run
	Log     string           // file of the output of all runs
	Ready   string           // URL that answers 200 when the server is ready
	Client  *http.Client     // that asks it; nil: one of waittest
}

// Start starts a server, and waits until it is ready.
func Start(tb testing.TB, o Options) *Server {
	tb.Helper()
	s := &Server{tb: tb, o: o}
	tb.Cleanup(s.Kill)
	s.Run()
	return s
}

// Run starts the server (again), and waits until it is ready.
func (s *Server) Run() {
	s.tb.Helper()
	log, err := os.OpenFile(s.o.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.tb.Fatal(err)
	}
	c := s.o.Command()
	c.Stdout, c.Stderr, c.SysProcAttr = log, log, &syscall.SysProcAttr{Setpgid: true}
	err = c.Start()
	_ = log.Close()
	if err != nil {
		s.tb.Fatal(err)
	}
	s.mu.Lock()
	s.runs = c
	s.mu.Unlock()
	asks := s.o.Client
	if asks == nil {
		asks = waittest.Client()
	}
	waittest.Until(s.tb, s.o.Name+" to be ready", func() bool {
		resp, err := asks.Get(s.o.Ready)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// Kill ends the server and the processes that it has started with SIGKILL, if it runs.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs == nil {
		return
	}
	_ = syscall.Kill(-s.runs.Process.Pid, syscall.SIGKILL)
	_ = s.runs.Wait()
	s.runs = nil
	if s.tb.Failed() {
		text, _ := os.ReadFile(s.o.Log)
		s.tb.Logf("the log of %s:\n%s", s.o.Name, text)
	}
}
