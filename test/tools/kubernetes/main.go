// Program kubernetes is kube-apiserver, kube-controller-manager, kube-scheduler,
// kubelet, kube-proxy, kube-network-policies or kubectl, by the name under which it is
// started. They share most of their code: one program is linked once, and its pages are
// in memory once.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // as kubectl links it
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register" // this and the next two as the servers link them
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(controllers.NewControllerManagerCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	case "kubelet":
		os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
	case "kube-proxy":
		os.Exit(cli.Run(proxy.NewProxyCommand()))
	case "kube-network-policies":
		os.Exit(cli.Run(networkPolicies()))
	case "kubectl":
		run(kubectl.NewDefaultKubectlCommand())
	default:
		fmt.Fprintf(os.Stderr, "cannot run as %q: link it to one of the programs of Kubernetes\n", name)
		os.Exit(2)
	}
}

func run(command *cobra.Command) {
	if err := cli.RunNoErrOutput(command); err != nil {
		util.CheckErr(err)
	}
}
