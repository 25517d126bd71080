// Package node tests Koldun as its users install it: by its chart, from its images, in a
// cluster with a kubelet and a container runtime. `make e2e` starts the cluster of package
// kubernetes; with CLUSTER=current the tests use the cluster of the current kubeconfig, which
// pulls images from REGISTRY.
package node
