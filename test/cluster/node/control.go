package node

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// logTail is the number of bytes of each log that Logs returns.
const logTail = 3000

// Kill kills a container as the kernel does when memory is exhausted. The container
// restarts if the pod's restartPolicy says so. Kill returns false if the container
// does not run.
func (n *Node) Kill(namespace, pod, container string) bool {
	l := n.worker(namespace + "/" + pod)
	return l != nil && l.kill(container)
}

func (n *Node) logs(namespace string) string { return filepath.Join(n.dir, "logs", namespace) }

// Log returns what a container has written since its last start, of bounded size.
func (n *Node) Log(namespace, pod, container string) string {
	raw, err := os.ReadFile(filepath.Join(n.logs(namespace), pod, container+".log"))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// Logs returns the end of the log of each container, ordered by pod.
func (n *Node) Logs() string {
	files, _ := filepath.Glob(filepath.Join(n.dir, "logs", "*", "*", "*.log")) // the pattern is valid
	slices.Sort(files)
	var b strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil || len(raw) == 0 {
			continue
		}
		name, _ := filepath.Rel(filepath.Join(n.dir, "logs"), file)
		fmt.Fprintf(&b, "== %s\n%s\n", name, raw[max(0, len(raw)-logTail):])
	}
	return b.String()
}
