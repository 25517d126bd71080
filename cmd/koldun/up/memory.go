package up

import (
	"os"
	"strconv"
	"strings"
)

// machineMemory returns the bytes of memory that this machine, or the container
// that this process runs in, has; 0 if they are not known.
func machineMemory() int64 {
	meminfo, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	limit, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		limit = nil // no limit that can be read
	}
	return memoryOf(string(meminfo), string(limit))
}

// memoryOf reads the total of /proc/meminfo, and a cgroup's limit below it.
func memoryOf(meminfo, limit string) int64 {
	var total int64
	for line := range strings.Lines(meminfo) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "MemTotal:" {
			if kibibytes, err := strconv.ParseInt(fields[1], 10, 53); err == nil {
				total = kibibytes << 10
			}
		}
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(limit), 10, 64); err == nil && n > 0 && (total == 0 || n < total) {
		return n
	}
	return total
}
