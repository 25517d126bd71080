package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gorizond/koldun/internal/local/process/processtest"
)

// childEnv makes TestChild start a program and wait to be killed.
const childEnv = "KOLDUN_TEST_CHILD"

func TestKilledTestLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	child := exec.Command(os.Args[0], "-test.run=^TestChild$")
	child.Env = append(os.Environ(), childEnv+"="+t.TempDir())
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscanf(out, "pid %d\n", &pid); err != nil {
		t.Fatalf("cannot read the process id from the child: %v", err)
	}
	if !processtest.Alive(pid) {
		t.Fatal("the program of the child does not run")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	Eventually(t, "the program to be killed too", func(context.Context) error {
		if processtest.Alive(pid) {
			return fmt.Errorf("process %d survives the test that started it", pid)
		}
		return nil
	})
}

// TestChild is the test that TestKilledTestLeavesNothingRunning kills.
func TestChild(t *testing.T) {
	dir := os.Getenv(childEnv)
	if dir == "" {
		t.Skip("run by TestKilledTestLeavesNothingRunning")
	}
	p := &Process{name: "sleep", path: "/bin/sleep", args: []string{"600"}, log: filepath.Join(dir, "log")}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(os.Stdout, "pid %d\n", p.current().process.Pid); err != nil {
		t.Fatal(err)
	}
	_ = p.wait(t.Context())
}

func TestProcess(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	p := &Process{name: "shell", path: "/bin/sh", args: []string{"-c", "trap 'echo asked; exit 0' TERM; echo started; while :; do sleep 0.05; done"}, log: log}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err == nil {
		t.Error("a program that runs was started again")
	}
	if err := p.err(); err != nil {
		t.Errorf("the process does not run: %v", err)
	}
	started := func(times int) func(context.Context) error {
		return func(context.Context) error {
			raw, err := os.ReadFile(log)
			if err != nil {
				return err
			}
			if n := bytes.Count(raw, []byte("started")); n != times {
				return fmt.Errorf("the process started %d times", n)
			}
			return nil
		}
	}
	Eventually(t, "the first life", started(1))
	if err := p.Restart(); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "the second life", started(2))
	if err := p.current().process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("after the restart: %v", err)
	}
	p.Stop()
	if err := p.err(); err == nil {
		t.Error("it should have ended")
	}
	raw, err := os.ReadFile(log)
	if err != nil || !bytes.Contains(raw, []byte("asked")) {
		t.Errorf("the process was killed without a signal to stop: %q, %v", raw, err)
	}
}

func TestProcessThatDoesNotExist(t *testing.T) {
	t.Parallel()
	p := &Process{name: "nothing", path: "/does/not/exist", log: filepath.Join(t.TempDir(), "log")}
	if err := p.Start(); err == nil {
		t.Error("it started")
	}
	p.Stop()
	p.Kill()
	if err := p.err(); err == nil {
		t.Error("it never ran, and has no error")
	}
}

func TestStaleFolderIsRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv(keepEnv, "")
	stale, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	_ = stale.lock.Close() // as when its process was killed
	live, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer live.remove()
	other, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer other.remove()
	if _, err := os.Stat(stale.path); !os.IsNotExist(err) {
		t.Errorf("stale folder still exists: %v", err)
	}
	if _, err := os.Stat(live.path); err != nil {
		t.Errorf("live folder is gone: %v", err)
	}
}
