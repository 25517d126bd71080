// Package argocd runs Argo CD for tests: its application controller, its repo server and a
// Redis, as ordinary processes of this machine. Argo CD then syncs folders of this machine, see
// [Repository], and assesses Koldun's kinds by the scripts of package/argocd.
//
// [Story] is the test of examples/argocd, from the first sync to the deletion of the
// Application. `make e2e` runs it on a node, and `make e2e-argocd` with Koldun's packages on
// the test control plane.
//
// `make bin/argocd` builds the programs. git and redis-server are Debian's.
package argocd
