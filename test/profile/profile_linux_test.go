package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMeasure(t *testing.T) {
	m, err := measure("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 3")
	if err == nil {
		t.Error("the command failed, but there is no error")
	}
	if m.total <= 0 || m.wall <= 0 || m.byColumn[others] <= 0 || m.byColumn[others] > m.total+clockTick {
		t.Errorf("measured %s of CPU time in %s, of it %s by a shell", m.total, m.wall, m.byColumn[others])
	}
	if cells := strings.Count(m.row("loop"), "|"); cells != strings.Count(strings.Split(header(), "\n")[0], "|") {
		t.Errorf("a row has %d bars, other than the header", cells)
	}
}

func TestColumn(t *testing.T) {
	self := os.Getpid()
	for name, want := range map[string]string{
		"compile": compile, "link": link, "kube-apiserver": apiServer, "etcd": etcd, "crossplane": crossplane,
		"koldun": ours, "koldun-provider": ours, "terraform-provider-koldun": ours, "helm": others,
	} {
		if got := column(self, name); got != want {
			t.Errorf("%s is in column %q, want %q", name, got, want)
		}
	}
}

// TestOrphans tests that a process is known after its parent has ended.
func TestOrphans(t *testing.T) {
	parent := exec.Command("sh", "-c", "sh -c 'echo $$; exec tail -f /dev/null' & wait")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	if _, err := fmt.Fscan(out, &child); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(child, syscall.SIGKILL) }()
	seen := processes{}
	seen.sample()
	st, ok := readStat(child)
	p := seen[key{pid: child, start: st.start}]
	if !ok || p == nil {
		t.Fatal("the child was not seen")
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	p.cpu = -1
	seen.sample()
	if p.cpu < 0 {
		t.Error("the child of a parent that has ended is not looked at")
	}
}

func TestSeconds(t *testing.T) {
	if got := seconds(1499 * time.Millisecond); got != "1" {
		t.Errorf("1.499 s is %q", got)
	}
}
