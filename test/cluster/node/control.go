package node

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// logTail is how many bytes of each log Logs holds.
const logTail = 3000

// Kill a container as the kernel would that lacks memory: without warning. It
// is started again if its pod says so. It is false if the container does not
// run.
func (n *Node) Kill(namespace, pod, container string) bool {
	l := n.life(namespace + "/" + pod)
	return l != nil && l.kill(container)
}

func (n *Node) logs(namespace string) string { return filepath.Join(n.dir, "logs", namespace) }

// Log is what a container has written since it was last started, of bounded
// size.
func (n *Node) Log(namespace, pod, container string) string {
	raw, err := os.ReadFile(filepath.Join(n.logs(namespace), pod, container+".log"))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// Logs are the ends of what all containers have ever written, by pod.
func (n *Node) Logs() string {
	files, _ := filepath.Glob(filepath.Join(n.dir, "logs", "*", "*", "*.log")) // the pattern is good
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
