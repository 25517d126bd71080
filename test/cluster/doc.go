// Package cluster runs a real control plane for tests: etcd, kube-apiserver,
// kube-controller-manager, and Crossplane's core and RBAC manager, as ordinary
// processes on loopback, without root. There is no node: package node runs pods
// as processes, and package simulate only says that they ran, and stands in for
// a provider.
//
// The programs are built by `make cluster-binaries`. Tests that find them
// missing skip, or fail if KOLDUN_REQUIRE_CLUSTER is 1.
//
// Crossplane has the rights of its Helm chart and of the manifests that the
// test gives, and no others. Functions and providers have the runtime
// "External": the test serves them, see [Cluster.ServeFunction].
//
// KOLDUN_CLUSTER_KEEP=1 keeps data and logs, KOLDUN_CLUSTER_DEBUG=1 makes
// Crossplane log each reconcile.
package cluster
