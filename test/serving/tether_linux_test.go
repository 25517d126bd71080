package serving_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/gorizond/koldun/internal/local/process/processtest"
	"github.com/gorizond/koldun/internal/waittest"
)

// victimEnv makes a test the one that is killed.
const victimEnv = "KOLDUN_SERVING_TEST_VICTIM"

// A test binary that is killed, as by a time limit, leaves no process behind,
// not even one that is frozen just then.
func TestNothingOutlivesAKilledTest(t *testing.T) {
	if os.Getenv(victimEnv) != "" {
		s := &stack{tb: t, dir: t.TempDir()}
		running := s.process("running", nil, os.Args[0], "role-engine", address(t))
		frozen := s.process("frozen", nil, os.Args[0], "role-engine", address(t))
		frozen.signal(syscall.SIGSTOP)
		// A process that stops only when its parent is gone already is nobody's to wake.
		waittest.Until(t, "the process to be frozen", func() bool { return processtest.State(frozen.cmd.Process.Pid) == "T" })
		fmt.Printf("%d %d\n", running.cmd.Process.Pid, frozen.cmd.Process.Pid)
		<-t.Context().Done()
		return
	}
	victim := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	victim.Env = append(os.Environ(), victimEnv+"=1", "TMPDIR="+t.TempDir())
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	var running, frozen int
	_, err = fmt.Fscan(bufio.NewReader(out), &running, &frozen)
	_ = victim.Process.Kill()
	_ = victim.Wait()
	if err != nil {
		t.Fatalf("the victim does not tell its children: %v", err)
	}
	for _, pid := range []int{running, frozen} {
		waittest.Until(t, fmt.Sprintf("process %d to end", pid), func() bool { return !processtest.Alive(pid) })
	}
}
