// Program argocd is Argo CD's application controller, its repo server, or the kustomize that
// the repo server runs, by the name under which it is started. Argo CD's own program also
// links its API server, its command-line interface and five other servers, which the tests
// do not run.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	repository "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/argoproj/argo-cd/v3/common"
	"github.com/argoproj/argo-cd/v3/util/log"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	kustomize "sigs.k8s.io/kustomize/kustomize/v5/commands"
)

func main() {
	// As Argo CD's program does: client-go then logs as the servers do.
	klog.SetLogger(log.NewLogrusLogger(log.NewWithCurrentConfig()))
	var command *cobra.Command
	switch name := filepath.Base(os.Args[0]); name {
	case common.CommandApplicationController:
		command = controller.NewCommand()
	case common.CommandRepoServer:
		command = repository.NewCommand()
	case "kustomize":
		command = kustomize.NewDefaultCommand()
	default:
		fmt.Fprintf(os.Stderr, "cannot run as %q: link it to %s, %s or kustomize\n", name, common.CommandApplicationController, common.CommandRepoServer)
		os.Exit(2)
	}
	if err := command.Execute(); err != nil {
		os.Exit(1) // cobra has printed it
	}
}
