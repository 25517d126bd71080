// Package kinds lists the managed resources that the provider brings about,
// each in a file of its own.
package kinds

import (
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/gorizond/koldun/provider/adapter"
)

// All kinds. nodes are those of the cluster.
func All(nodes typedcorev1.NodeInterface) []adapter.Any {
	return []adapter.Any{
		buckets(),
		consumers(),
		demands(),
		hubRevisions(),
		keyValues(),
		modelArtifacts(),
		modelRecords(),
		nodeLabelRules(nodes),
		pools(),
		queues(),
		streams(),
		tokens(),
		tokenSets(),
	}
}
