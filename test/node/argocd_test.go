package node_test

import (
	"testing"

	"github.com/gorizond/koldun/test/argocd"
)

// TestArgoCD runs the story of examples/argocd on the node. Argo CD's programs run beside it.
func TestArgoCD(t *testing.T) {
	w := koldun(t)
	if w.node == nil {
		t.Skip("it reaches Services by their addresses; run: make e2e")
	}
	tell("Argo CD: it brings examples/argocd up, keeps it as the Git repository says, and removes it.")
	argocd.Story(t, argocd.Setup{Cluster: w.Cluster, HTTP: w.node.HTTP(), Tell: tell})
}
