package up_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const nodeClient = "../../../test/openai-node"

// TestUpServesTheNodeClients runs clients for Node against the embedded engine of the
// quickstart.
func TestUpServesTheNodeClients(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("run it with: apt-get install nodejs npm && make openai-node")
	}
	if _, err := os.Stat(filepath.Join(nodeClient, "node_modules", "ai")); err != nil {
		t.Skip("run it with: make openai-node")
	}
	p := up(t, t.TempDir(), "--ask", "")
	cmd := exec.CommandContext(t.Context(), node, "--test", "client.test.mjs", "engine.test.mjs")
	cmd.Dir, cmd.Env = nodeClient, append(os.Environ(), "KOLDUN_URL="+endpoint(t, p))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
