package serving_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A cgroup bounds the memory of processes, as a container's does.
type cgroup struct{ dir string }

// newCgroup makes a cgroup with so many bytes of memory, or skips the test.
func newCgroup(t *testing.T, bytes int64) *cgroup {
	t.Helper()
	dir, limit, err := memoryController()
	if err == nil {
		dir = filepath.Join(dir, fmt.Sprintf("koldun-flood-%d", os.Getpid()))
		err = os.Mkdir(dir, 0o755)
	}
	if err == nil {
		t.Cleanup(func() { _ = os.Remove(dir) })
		err = os.WriteFile(filepath.Join(dir, limit), []byte(strconv.FormatInt(bytes, 10)), 0o600)
	}
	if err != nil {
		t.Skipf("this needs a cgroup with a limit of memory: run `make flood` as root, on a system whose cgroups it may change: %v", err)
	}
	return &cgroup{dir}
}

// memoryController returns the folder of this process in the hierarchy of cgroups that has
// memory, of version 1 or 2, and the file of the limit.
func memoryController() (dir, limit string, err error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "", err
	}
	const root = "/sys/fs/cgroup"
	for line := range strings.Lines(string(own)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[1] == "memory":
			for _, dir := range []string{filepath.Join(root, "memory", parts[2]), filepath.Join(root, "memory")} { // a container sees its own as the root
				if _, err := os.Stat(filepath.Join(dir, "memory.limit_in_bytes")); err == nil {
					return dir, "memory.limit_in_bytes", nil
				}
			}
		case parts[0] == "0":
			for dir := filepath.Join(root, parts[2]); strings.HasPrefix(dir, root); dir = filepath.Dir(dir) { // only some hand memory down
				if down, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control")); err == nil && strings.Contains(string(down), "memory") {
					return dir, "memory.max", nil
				}
			}
		}
	}
	return "", "", errors.New("no hierarchy has memory")
}

// run returns a command that runs another in the cgroup.
func (c *cgroup) run() []string {
	return []string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(c.dir, "cgroup.procs")}
}

// peak returns the most memory that was in use, 0 if the system does not say.
func (c *cgroup) peak() int64 {
	for _, name := range []string{"memory.peak", "memory.max_usage_in_bytes"} {
		if b, err := os.ReadFile(filepath.Join(c.dir, name)); err == nil {
			n, _ := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
			return n
		}
	}
	return 0
}
