package kubernetes

import (
	"context"
	_ "embed"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// dnsAddress is the address of the Service of CoreDNS.
const dnsAddress = "10.96.0.10"

//go:embed coredns.yaml
var dns string

// addDNS runs CoreDNS in a pod, as clusters do, and returns when it is ready.
func (n *Node) addDNS(ctx context.Context) error {
	if err := n.Apply(ctx, dns); err != nil {
		return err
	}
	return n.Await(ctx, "CoreDNS", func(ctx context.Context) error {
		var d appsv1.Deployment
		if err := n.Client().Get(ctx, client.ObjectKey{Namespace: "kube-system", Name: "coredns"}, &d); err != nil {
			return err
		}
		if d.Status.ReadyReplicas == 0 {
			return errors.New("no pod is ready")
		}
		return nil
	})
}
