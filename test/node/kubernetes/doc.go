// Package kubernetes runs a Kubernetes cluster of one node: the control plane of package
// cluster, kube-scheduler, containerd, kubelet, kube-proxy, CoreDNS, a bridge for pods,
// kube-network-policies, and a registry. Pods are containers with addresses of their own.
//
// It needs root, and a network namespace and a mount namespace of its own, in which it
// makes devices, filter rules and mounts. `make e2e` builds the programs and enters the
// namespaces with unshare(1). Debian has the rest: containerd, runc,
// containernetworking-plugins and iptables.
package kubernetes
