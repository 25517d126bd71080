// Command functions serves Koldun's composition function to Crossplane.
package main

import (
	"cmp"

	"github.com/alecthomas/kong"
	"github.com/crossplane/function-sdk-go"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
)

// CLI is the command line of a Crossplane function, and the image that
// composed pods run.
type CLI struct {
	Debug       bool   `help:"Emit debug logs in addition to info logs." short:"d"`
	Network     string `default:"tcp" help:"Network on which to listen for gRPC connections."`
	Address     string `default:":9443" help:"Address at which to listen for gRPC connections."`
	TLSCertsDir string `env:"TLS_SERVER_CERTS_DIR" help:"Folder with server certificates (tls.key, tls.crt) and the CA of the clients (ca.crt)." type:"path"`
	Insecure    bool   `help:"Run without mTLS credentials. If set, the certificates are not used."`
	Image       string `default:"${image}" env:"KOLDUN_IMAGE" help:"Image of the koldun binary for composed pods."`
}

// Run serves until the process is stopped.
func (c *CLI) Run() error {
	if _, err := function.NewLogger(c.Debug); err != nil {
		return err
	}
	return function.Serve(router.New(compose.Config{Image: c.Image}),
		function.Listen(c.Network, c.Address),
		function.MTLSCertificates(c.TLSCertsDir),
		function.Insecure(c.Insecure),
		function.MaxRecvMessageSize(maxRequest))
}

// maxRequest bounds a request in bytes: the objects that a composite requires, of which
// each has at most 1.5 MiB, and what it is composed of.
const maxRequest = 64 << 20

// The linker sets both: version, and in a release image, which is that of this version by
// its digest.
var (
	version = "v0.0.0"
	image   = ""
)

func main() {
	ctx := kong.Parse(&CLI{}, kong.Name("koldun-function"), kong.Description("Koldun's composition function for Crossplane."), kong.Vars{"image": cmp.Or(image, compose.ReleaseImage(version))})
	ctx.FatalIfErrorf(ctx.Run())
}
