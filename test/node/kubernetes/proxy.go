package kubernetes

import "path/filepath"

// runProxies runs what schedules pods to the node, leads connections from Services to pods,
// and enforces NetworkPolicies.
func (n *Node) runProxies() error {
	for name, args := range map[string][]string{
		"kube-scheduler": {"--leader-elect=false", "--secure-port=0"},
		"kube-proxy": {
			"--proxy-mode=iptables", "--conntrack-max-per-core=0", "--hostname-override=" + Name, "--cluster-cidr=" + podAddresses,
			"--metrics-bind-address=127.0.0.1:10249", "--healthz-bind-address=", "--iptables-min-sync-period=100ms",
		},
		"kube-network-policies": {"--node=" + Name, "--queue=" + policyQueue},
	} {
		if _, err := n.Run(name, filepath.Join(n.bin, name), nil, append(args, "--kubeconfig="+n.Kubeconfig())...); err != nil {
			return err
		}
	}
	return nil
}
