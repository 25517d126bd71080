// Program hub stands for huggingface.co in a cluster without internet access: it serves the
// models in a folder.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gorizond/koldun/internal/httpserver"
	"github.com/gorizond/koldun/internal/hub/hubserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		slog.Error("cannot serve models", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	handler, err := hubserver.New(hubserver.Config{Dir: "/models"})
	if err != nil {
		return err
	}
	defer func() { _ = handler.Close() }()
	listener, err := httpserver.Listen(ctx, ":8080")
	if err != nil {
		return err
	}
	return httpserver.Serve(ctx, listener, handler, httpserver.Options{Name: "hub", Grace: time.Second, Logger: slog.Default()})
}
