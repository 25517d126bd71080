package kubernetes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// containerdConfig is the configuration of containerd 1.6, as Debian 12 has it. Where root
// may not lower the score of the out-of-memory killer, sandboxes start only with
// restrict_oom_score_adj. Images of all registries come from the one of this package.
const containerdConfig = `version = 2
root = "%[1]s/root"
state = "%[1]s/state"
[grpc]
address = "%[2]s"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "` + pauseImage + `"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "overlayfs"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "%[1]s"
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "%[1]s/registries"
`

// registryConfig makes containerd pull the images of a registry, or of all, from that of this
// package.
const registryConfig = `server = "http://` + Registry + `"
[host."http://` + Registry + `"]
capabilities = ["pull", "resolve"]
`

// cniConfig is the network of pods: a bridge, so that pods of the node reach each other, and
// addresses of one range.
const cniConfig = `{
  "cniVersion": "0.4.0",
  "name": "pods",
  "plugins": [
    {"type": "bridge", "bridge": "pods0", "isGateway": true, "hairpinMode": true,
     "ipam": {"type": "host-local", "dataDir": "%s", "ranges": [[{"subnet": "` + podAddresses + `"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}`

// runContainerd runs containerd, and returns when it answers.
func (n *Node) runContainerd(ctx context.Context) error {
	dir := filepath.Join(n.Dir(), "containerd")
	n.containerd = filepath.Join(dir, "containerd.sock")
	config := filepath.Join(dir, "config.toml")
	for name, content := range map[string]string{
		config:                                 fmt.Sprintf(containerdConfig, dir, n.containerd),
		filepath.Join(dir, "10-pods.conflist"): fmt.Sprintf(cniConfig, filepath.Join(dir, "addresses")),
		filepath.Join(dir, "registries", "_default", "hosts.toml"): registryConfig,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return err
		}
	}
	if _, err := n.Run("containerd", "/usr/bin/containerd", nil, "--config="+config); err != nil {
		return err
	}
	return n.Await(ctx, "containerd", func(ctx context.Context) error { return n.ctr(ctx, "version") })
}

func (n *Node) ctr(ctx context.Context, args ...string) error {
	return run(ctx, append([]string{"ctr", "--address", n.containerd, "--namespace", "k8s.io"}, args...)...)
}

// removePods ends the containers that a test has left. Their shims are not children of
// containerd.
func (n *Node) removePods() {
	out, err := exec.Command("ctr", "--address", n.containerd, "--namespace", "k8s.io", "tasks", "list", "--quiet").Output()
	if err != nil {
		return
	}
	for _, id := range strings.Fields(string(out)) {
		_ = n.ctr(context.Background(), "tasks", "kill", "--all", "--signal", "SIGKILL", id) // it may have ended
	}
}

// unmount unmounts the file systems of containers and pods, so that their folders can be
// removed.
func (n *Node) unmount() {
	raw, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return
	}
	for _, line := range strings.Split(string(raw), "\n") {
		fields := strings.Fields(line)
		if len(fields) > 1 && strings.HasPrefix(fields[1], n.Dir()+"/") {
			_ = run(context.Background(), "umount", "--lazy", fields[1])
		}
	}
}
