// Package cluster runs a real control plane for tests: etcd, kube-apiserver,
// kube-controller-manager, and Crossplane's core and RBAC manager, as ordinary
// processes on loopback, without root. There is no node: package node runs pods as
// processes, and package simulate simulates pods and a provider.
//
// `make cluster-binaries` builds the programs. If they are missing, tests skip, or
// fail if KOLDUN_REQUIRE_CLUSTER is 1.
//
// Crossplane has only the rights of its Helm chart and of the manifests that the test
// applies. Functions and providers have the runtime "External": the test serves them,
// see [Cluster.ServeFunction].
//
// KOLDUN_CLUSTER_KEEP=1 keeps data and logs. KOLDUN_CLUSTER_DEBUG=1 makes
// Crossplane log each reconcile.
package cluster
