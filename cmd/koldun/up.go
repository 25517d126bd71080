package main

import (
	"context"

	"github.com/gorizond/koldun/cmd/koldun/up"
)

// UpCmd runs claims on this machine. On SIGHUP it reads them again.
type UpCmd struct {
	Files    []string       `name:"file" short:"f" required:"" help:"File with claims to run; - is standard input. May be repeated."`
	HubDir   string         `type:"existingdir" help:"Serve the models in this folder as a hub and use it instead of huggingface.co."`
	Data     string         `default:".koldun" type:"path" help:"Data folder for models, the queue and logs."`
	Port     map[string]int `placeholder:"SERVICE=PORT" help:"Local port for a Service instead of its own port; 0 chooses a free one."`
	Dllama   string         `name:"dllama-bin" type:"existingdir" placeholder:"FOLDER" help:"Folder with dllama and dllama-api of distributed-llama. By default they are looked for on PATH and in the folder distributed-llama beside this program."`
	Ask      string         `default:"What is Koldun?" help:"Question to ask when everything is ready; empty asks none."`
	Embedded bool           `help:"Use the embedded NATS and object store also for claims that name others, in their URLs or in ProviderConfigs."`
	Once     bool           `help:"Exit after the answer, or once everything is ready; fail if a server stays out of reach."`
}

// Run runs the claims until ctx ends, with --once until the question is answered.
func (c *UpCmd) Run(ctx context.Context, cli *CLI) error {
	return up.Run(ctx, up.Config{
		Files:    c.Files,
		HubDir:   c.HubDir,
		Data:     c.Data,
		Ports:    c.Port,
		Dllama:   c.Dllama,
		Ask:      c.Ask,
		Embedded: c.Embedded,
		Once:     c.Once,
		LogLevel: cli.LogLevel,
	})
}
