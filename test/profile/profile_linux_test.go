package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/waittest"
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

// TestOrphans tests that a process whose parent has ended is waited for when it ends too.
func TestOrphans(t *testing.T) {
	if err := adoptOrphans(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", "sleep 0.2 >/dev/null & echo $!").Output()
	if err != nil {
		t.Fatal(err)
	}
	path, seen := "/proc/"+strings.TrimSpace(string(out)), processes{}
	waittest.Until(t, "the orphan to be gone", func() bool {
		seen.sample(0)
		_, err := os.Stat(path)
		return os.IsNotExist(err)
	})
	if len(seen) == 0 {
		t.Error("no descendant was seen")
	}
}

func TestSeconds(t *testing.T) {
	if got := seconds(1499 * time.Millisecond); got != "1" {
		t.Errorf("1.499 s is %q", got)
	}
}
