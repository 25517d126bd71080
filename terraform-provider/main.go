// The Terraform provider of Koldun. Terraform and OpenTofu start it; see package
// internal/provider.
package main

import (
	"flag"
	"fmt"
	"os"
	runtimedebug "runtime/debug"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/gorizond/koldun/terraform-provider/internal/protocol"
	koldun "github.com/gorizond/koldun/terraform-provider/internal/provider"
)

// version is set by the linker.
var version = "v0.0.0" //nolint:gochecknoglobals // set by the linker

// address is the provider's source address. Terraform and OpenTofu each look it
// up on their own host.
const address = "registry.terraform.io/gorizond/koldun"

func main() {
	debug := flag.Bool("debug", false, "wait for a debugger's client instead of being started by Terraform")
	flag.Parse()
	// Terraform keeps several of these processes while it runs, so that memory
	// matters more than the time of garbage collection.
	runtimedebug.SetGCPercent(50)
	if !wantsLogs(os.Environ()) {
		_ = os.Setenv(sdkLevel, "off")
	}
	p := koldun.New(version, os.Getenv)
	defer p.Close()
	var opts []tf6server.ServeOpt
	if *debug {
		opts = append(opts, tf6server.WithManagedDebug())
	}
	err := tf6server.Serve(address, func() tfprotov6.ProviderServer { return protocol.New(p) }, opts...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot serve the provider:", err)
		os.Exit(1)
	}
}
