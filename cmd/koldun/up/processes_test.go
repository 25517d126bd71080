package up_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/local/process/processtest"
	"github.com/gorizond/koldun/test/waittest"
)

// descendants lists the processes below a process, by command line.
func descendants(t *testing.T, pid int) map[int]string {
	t.Helper()
	out := map[int]string{}
	parents := []int{pid}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for len(parents) > 0 {
		parent := parents[0]
		parents = parents[1:]
		for _, name := range stats {
			raw, err := os.ReadFile(name)
			if err != nil {
				continue // it has ended
			}
			var child, ppid int
			var state string
			rest := string(raw[bytes.LastIndexByte(raw, ')')+1:])
			if _, err := fmt.Sscan(rest, &state, &ppid); err != nil || ppid != parent || state == "Z" {
				continue
			}
			if _, err := fmt.Sscan(string(raw), &child); err != nil {
				continue
			}
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
			out[child] = strings.ReplaceAll(string(line), "\x00", " ")
			parents = append(parents, child)
		}
	}
	return out
}

// gone waits until all of the processes have ended.
func gone(t *testing.T, pids map[int]string) {
	t.Helper()
	ctx := waittest.Context(t)
	for pid, line := range pids {
		if err := waitGone(ctx, pid); err != nil {
			t.Errorf("process %d still runs: %s", pid, line)
		}
	}
}

func waitGone(ctx context.Context, pid int) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for processtest.Alive(pid) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
