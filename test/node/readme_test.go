package node_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/waittest"
)

// TestReadme runs the commands of README.md's section "In a cluster", from those that follow
// the installation to the answer of curl. The hub of the tests has a small model under the
// name of the one that they use.
func TestReadme(t *testing.T) {
	w := koldun(t)
	const (
		online = "https://raw.githubusercontent.com/gorizond/koldun/main/"
		claim  = "examples/quickstart/tinyllama.yaml"
	)
	script := commands(t, "In a cluster")
	install, script, _ := strings.Cut(script, "\n")
	if !strings.HasPrefix(install, "helm install koldun "+onlineChart+" ") || !strings.Contains(script, online+claim) {
		t.Fatalf("README.md installs by %q, and goes on with:\n%s", install, script)
	}
	script = strings.ReplaceAll(script, online, mustAbs(t, repository)+"/")
	tell("A newcomer runs the commands of README.md after helm install")
	began := time.Now()
	out := w.installer.bash(t, script)
	if !strings.Contains(out, `"delta":{"content":`) || !strings.Contains(out, "data: [DONE]\n") {
		t.Fatalf("the commands print %s\n%s", out, script)
	}
	tell("curl has a streamed answer after %s", time.Since(began).Round(time.Second))
	w.claims.deleted(t, filepath.Join(repository, claim))
}

// bash runs commands of users with the programs of the repository, and returns what they print.
func (i *installer) bash(t *testing.T, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit(10*time.Minute))
	defer cancel()
	home := t.TempDir()
	cmd := exec.CommandContext(ctx, "bash", "-euc", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"+script)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+i.Kubeconfig(), "PATH="+filepath.Join(mustAbs(t, repository), "bin")+":"+os.Getenv("PATH"),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the commands print %s: %v\n%s", out, err, script)
	}
	return string(out)
}

// commands returns the commands of a section of README.md, up to the first text after they
// have asked the model.
func commands(t *testing.T, section string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repository, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(raw), "\n## "+section+"\n")
	var script strings.Builder
	for line := range strings.Lines(text) {
		command, ok := strings.CutPrefix(line, "    ")
		if ok {
			script.WriteString(command)
		} else if strings.Contains(script.String(), "curl ") {
			break
		}
	}
	return script.String()
}
