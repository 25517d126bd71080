// Command provider is Koldun's Crossplane provider: it reconciles the managed
// resources of koldun.m.gorizond.io.
package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/gorizond/koldun/provider/manager"
	"github.com/gorizond/koldun/provider/prerequisites"
)

var version = "v0.0.0" //nolint:gochecknoglobals // set by the linker

// CLI is the command line of the provider. It finds a kubeconfig like kubectl:
// KUBECONFIG, then the pod's service account.
type CLI struct {
	Debug             bool             `help:"Log each reconcile." short:"d"`
	PollInterval      time.Duration    `default:"10m" help:"Interval of polling each external resource, in addition to watches."`
	MaxReconcileRate  int              `default:"100" help:"Maximum reconciles per second, over all kinds."`
	LeaderElection    bool             `default:"true" negatable:"" env:"LEADER_ELECTION" help:"Run the controllers in only one of several replicas."`
	LeaseNamespace    string           `env:"POD_NAMESPACE" help:"Namespace of the lease. Defaults to the pod's."`
	CrossplaneAccount string           `default:"crossplane-system/crossplane" help:"Service account of Crossplane, as NAMESPACE/NAME. The provider checks its rights."`
	Metrics           string           `default:":8080" help:"Address of the Prometheus metrics; 0 for none."`
	PollStateMetric   time.Duration    `default:"10s" help:"Interval of counting managed resources for the metrics; 0 is never."`
	Health            string           `default:":8081" help:"Address of /healthz and /readyz; empty for none."`
	Version           kong.VersionFlag `help:"Print the version."`
}

// Run runs the controllers until the process gets SIGINT or SIGTERM.
func (c *CLI) Run() error {
	log := zap.New(zap.UseDevMode(c.Debug))
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	namespace, account, ok := strings.Cut(c.CrossplaneAccount, "/")
	if !ok || namespace == "" || account == "" {
		return fmt.Errorf("cannot read flag --crossplane-account %q: it is not NAMESPACE/NAME", c.CrossplaneAccount)
	}
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("cannot find the API server: %w", err)
	}
	ctx := ctrl.SetupSignalHandler()
	mgr, err := manager.New(ctx, cfg, manager.Options{
		Log:            logging.NewLogrLogger(log.WithName("koldun-provider")),
		PollInterval:   c.PollInterval,
		MaxReconciles:  c.MaxReconcileRate,
		Metrics:        c.Metrics,
		CountInterval:  c.PollStateMetric,
		Health:         c.Health,
		LeaderElection: c.LeaderElection,
		Namespace:      c.LeaseNamespace,
		Crossplane:     prerequisites.Account{Namespace: namespace, Name: account},
	})
	if err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("alive", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("alive", healthz.Ping); err != nil {
		return err
	}
	log.Info("starting", "version", version)
	return mgr.Start(ctx)
}

func main() {
	ctx := kong.Parse(&CLI{}, kong.Name("koldun-provider"), kong.Vars{"version": version},
		kong.Description("Koldun's Crossplane provider."))
	ctx.FatalIfErrorf(ctx.Run())
}
