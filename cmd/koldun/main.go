// Command koldun is the runtime of Koldun in one static binary: what runs in
// pods, and koldun up, which runs it all on one machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/s3"
	"github.com/gorizond/koldun/internal/local/process"
	"github.com/gorizond/koldun/internal/telemetry"
)

// version is set by the linker.
var version = "v0.0.0" //nolint:gochecknoglobals // the linker cannot set anything else

// CLI is the command line.
type CLI struct {
	LogFormat string `default:"auto" enum:"auto,text,json" env:"KOLDUN_LOG_FORMAT" help:"How log messages are written: ${enum}; auto is text on a terminal."`
	LogLevel  string `default:"info" enum:"debug,info,warn,error" env:"KOLDUN_LOG_LEVEL" help:"Log messages of this level and above: ${enum}."`

	Up         UpCmd         `cmd:"" help:"Run claims on this machine, without a cluster."`
	Render     RenderCmd     `cmd:"" help:"Print what the functions compose from claims, without running anything."`
	Migrate    MigrateCmd    `cmd:"" help:"Turn manifests of kold, the first Koldun, hf-operator, Prem-Operator and Model Orchestra into claims."`
	Adopt      AdoptCmd      `cmd:"" help:"Take over the files of a model that another system has downloaded or converted."`
	Fetch      FetchCmd      `cmd:"" help:"Download a model, verified and resumable."`
	Convert    ConvertCmd    `cmd:"" help:"Convert a downloaded model to the formats of distributed-llama."`
	Verify     VerifyCmd     `cmd:"" help:"Check the stored files of a model against their manifest."`
	Inspect    InspectCmd    `cmd:"" help:"Read the headers of converted files that have no manifest, and check that they are complete."`
	Topology   TopologyCmd   `cmd:"" help:"Print the possible node counts of a model, and what each node needs."`
	Chat       ChatCmd       `cmd:"" help:"Talk to a model of an OpenAI-compatible API."`
	Gateway    GatewayCmd    `cmd:"" help:"Serve the OpenAI-compatible API."`
	Dispatcher DispatcherCmd `cmd:"" help:"Assign queued requests to runners."`
	Requests   RequestsCmd   `cmd:"" help:"Inspect the queue: list, show, cancel and replay requests."`
	NATS       NATSCmd       `cmd:"" name:"nats" help:"Prepare NATS servers."`
	S3         S3Cmd         `cmd:"" name:"s3" help:"Serve an object store in a cluster, and prepare it."`
	LLM        LLMCmd        `cmd:"" name:"llm" help:"Drive an engine: the sidecar of a root pod."`
	Engine     EngineCmd     `cmd:"" help:"The embedded inference engine."`
	Install    InstallCmd    `cmd:"" help:"Copy this program into a folder that an engine's container shares."`
	Supervise  SuperviseCmd  `cmd:"" help:"Run an engine of distributed-llama as the first process of its container."`
	Exec       ExecCmd       `cmd:"" hidden:"" help:"Run a program that ends with this process."`
	Version    VersionCmd    `cmd:"" help:"Print the version."`
}

// VersionCmd prints the version.
type VersionCmd struct{}

// Run prints.
func (VersionCmd) Run() error {
	fmt.Println(version)
	return nil
}

func main() {
	takeClaimEnv()
	process.ExitWithParent()
	s3.RunChild()
	var cli CLI
	parser, err := kong.New(&cli,
		kong.Name("koldun"),
		kong.Description("A language model as one more claim."),
		kong.Vars{"image": compose.ReleaseImage(version)},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fatal(err)
	}
	// An interrupt ends the context once; a second one kills, as usual.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	k, err := parser.Parse(os.Args[1:])
	if err != nil {
		fatal(fault.Errorf(fault.Invalid, "cannot read the arguments: %w; %s --help describes them", err, commandOf(err)))
	}
	log, err := telemetry.NewLogger(os.Stderr, cli.LogLevel, cli.LogFormat)
	if err != nil {
		fatal(err)
	}
	k.BindTo(ctx, (*context.Context)(nil))
	err = k.Run(log)
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = fault.Errorf(fault.Interrupted, "interrupted")
	}
	if err != nil {
		fatal(err)
	}
}

// commandOf returns the command whose arguments are wrong.
func commandOf(err error) string {
	var wrong *kong.ParseError
	if errors.As(err, &wrong) && wrong.Context.Selected() != nil {
		return wrong.Context.Selected().FullPath()
	}
	return "koldun"
}

// fatal prints the error as the last line, and exits with the status of its
// kind.
func fatal(err error) {
	fmt.Fprintln(os.Stderr, "koldun:", err)
	lastWords(terminationLog, err)
	os.Exit(fault.ExitCode(err))
}

// terminationLog is the file whose text Kubernetes shows as the reason why a
// container has ended. Only containers have it.
const terminationLog = "/dev/termination-log"

// lastWords writes the error to a file, if that exists.
func lastWords(path string, err error) {
	f, openErr := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if openErr != nil {
		return
	}
	_, _ = fmt.Fprintln(f, err)
	_ = f.Close()
}
