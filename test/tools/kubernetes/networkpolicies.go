package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"
)

// networkPolicies returns the program that enforces NetworkPolicies. Its own works only
// in a pod. It decides about the packets of a netfilter queue, which the caller fills: the
// nftables rule that it makes for that needs CONFIG_NFT_QUEUE in the kernel.
func networkPolicies() *cobra.Command {
	var kubeconfig string
	config := networkpolicy.Config{}
	cmd := &cobra.Command{
		Use:          "kube-network-policies",
		Short:        "Enforce NetworkPolicies on this node",
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			return enforce(server.SetupSignalContext(), kubeconfig, config)
		},
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "File that names the cluster")
	cmd.Flags().StringVar(&config.NodeName, "node", "", "Name of this node")
	cmd.Flags().IntVar(&config.QueueID, "queue", 100, "Number of the netfilter queue")
	return cmd
}

func enforce(ctx context.Context, kubeconfig string, config networkpolicy.Config) error {
	rest, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	controller, err := networkpolicy.NewController(client,
		factory.Networking().V1().NetworkPolicies(),
		factory.Core().V1().Namespaces(),
		factory.Core().V1().Pods(),
		nil, nil, nil, nil, config)
	if err != nil {
		return fmt.Errorf("cannot start to enforce NetworkPolicies: %w", err)
	}
	factory.Start(ctx.Done())
	return controller.Run(ctx)
}
