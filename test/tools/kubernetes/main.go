// Program kubernetes is kube-apiserver, kube-controller-manager or kubectl, by
// the name under which it is started. The three share most of their code: one
// program is linked once, and its pages are in memory once.
package main

import (
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
)

func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(controllers.NewControllerManagerCommand()))
	case "kubectl":
		run(kubectl.NewDefaultKubectlCommand())
	default:
		fmt.Fprintf(os.Stderr, "cannot run as %q: link it to kube-apiserver, kube-controller-manager or kubectl\n", name)
		os.Exit(2)
	}
}

func run(command *cobra.Command) {
	if err := cli.RunNoErrOutput(command); err != nil {
		util.CheckErr(err)
	}
}
