package kubernetes

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// runKubelet runs the kubelet, which registers the node.
func (n *Node) runKubelet() error {
	type object = map[string]any
	dir := n.KubeletDir()
	config := filepath.Join(dir, "config.yaml")
	raw, err := json.Marshal(object{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		// Only programs in this network namespace reach it.
		"authentication":           object{"anonymous": object{"enabled": true}, "webhook": object{"enabled": false}},
		"authorization":            object{"mode": "AlwaysAllow"},
		"cgroupRoot":               "/" + n.cgroup(),
		"cgroupDriver":             "cgroupfs",
		"failCgroupV1":             false, // many machines still have it
		"failSwapOn":               false,
		"containerRuntimeEndpoint": "unix://" + n.containerd,
		"clusterDNS":               []string{dnsAddress},
		"clusterDomain":            "cluster.local",
		"resolvConf":               "",
		"podLogsDir":               filepath.Join(dir, "logs"),
		"volumePluginDir":          filepath.Join(dir, "volumeplugins"),
		"serializeImagePulls":      false,
		"registerNode":             true,
		// A full disk of the machine is not what is tested.
		"evictionHard":                     object{"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
		"evictionPressureTransitionPeriod": "10s",
		"syncFrequency":                    "10s",
		"volumeStatsAggPeriod":             "10s", // how soon a full emptyDir is noticed
		"shutdownGracePeriod":              "0s",
		"nodeStatusReportFrequency":        "1m",
	})
	if err != nil {
		return err
	}
	if err := makeCgroup(n.cgroup()); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { // pods of other users read volumes in it
		return err
	}
	if err := os.WriteFile(config, raw, 0o600); err != nil {
		return err
	}
	_, err = n.Run("kubelet", filepath.Join(n.bin, "kubelet"), nil,
		"--config="+config, "--kubeconfig="+n.Kubeconfig(), "--root-dir="+dir, "--cert-dir="+filepath.Join(dir, "pki"),
		"--node-ip="+Address, "--hostname-override="+Name)
	return err
}

// KubeletDir returns the folder of the kubelet, in which it mounts volumes and finds their
// drivers.
func (n *Node) KubeletDir() string { return filepath.Join(n.Dir(), "kubelet") }

// cgroup returns the name of the control group of pods.
func (n *Node) cgroup() string { return filepath.Base(n.Dir()) }
