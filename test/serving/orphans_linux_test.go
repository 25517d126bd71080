package serving_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/gorizond/koldun/internal/local/process/processtest"
	"github.com/gorizond/koldun/test/waittest"
)

// victimEnv makes this test binary the one that is killed.
const victimEnv = "KOLDUN_SERVING_TEST_VICTIM"

// A test binary that is killed, for example by a timeout, leaves no process
// behind, not even a frozen one.
func TestKilledTestLeavesNoProcesses(t *testing.T) {
	if os.Getenv(victimEnv) != "" {
		s := emptyStack(t, "")
		running := s.processes.start("running", nil, os.Args[0], "role-engine", address(t))
		frozen := s.processes.start("frozen", nil, os.Args[0], "role-engine", address(t))
		frozen.signal(syscall.SIGSTOP)
		// Wait, because a process that freezes after its parent has ended is never continued.
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
		t.Fatalf("cannot read the process ids of the victim's children: %v", err)
	}
	for _, pid := range []int{running, frozen} {
		waittest.Until(t, fmt.Sprintf("process %d to end", pid), func() bool { return !processtest.Alive(pid) })
	}
}
