package main

import (
	"log/slog"
	"os"

	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
)

// HubFlags are the flags of commands that read a hub.
type HubFlags struct {
	TokenEndpoint string `placeholder:"https://HOST" help:"Hub that may receive HF_TOKEN, besides that of HF_ENDPOINT (default https://huggingface.co). Other hubs never receive it."`
}

// open returns a client of the hub that a source names. HF_TOKEN belongs to the
// hub of HF_ENDPOINT and that of --token-endpoint: a source must not choose the
// receiver of the token. In a Job the provider says which hosts may be reached. Errors:
// Invalid.
func (f HubFlags) open(ref modelref.Ref, log *slog.Logger) (*hub.Client, error) {
	own := os.Getenv(names.EnvHFEndpoint)
	if own == "" {
		own = hub.DefaultEndpoint
	}
	cfg := hub.Config{Endpoint: ref.Endpoint, Token: os.Getenv(names.EnvHFToken), TokenFor: []string{own}, Reach: hub.ParseReach(os.Getenv(names.EnvHubReach)), Log: log}
	if cfg.Endpoint == "" {
		cfg.Endpoint = own
	}
	if f.TokenEndpoint != "" {
		cfg.TokenFor = append(cfg.TokenFor, f.TokenEndpoint)
	}
	return hub.New(cfg)
}
