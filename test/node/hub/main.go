// Program hub stands for huggingface.co in a cluster without internet access: it serves the
// models in a folder, and one of random bytes slowly.
package main

import (
	"context"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/gorizond/koldun/internal/artifact/hub/hubserver"
	"github.com/gorizond/koldun/internal/network/httpserver"
)

func main() {
	slow := flag.String("slow", "", "empty folder for the model "+slowName)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *slow); err != nil {
		slog.Error("cannot serve models", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, slowDir string) error {
	models, err := hubserver.New(hubserver.Config{Dir: "/models"})
	if err != nil {
		return err
	}
	defer func() { _ = models.Close() }()
	handler := http.Handler(models)
	if slowDir != "" {
		slow, err := newSlow(slowDir)
		if err != nil {
			return err
		}
		defer func() { _ = slow.hub.Close() }()
		handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, slowName) {
				slow.ServeHTTP(w, r)
				return
			}
			models.ServeHTTP(w, r)
		})
	}
	listener, err := httpserver.Listen(ctx, ":8080")
	if err != nil {
		return err
	}
	return httpserver.Serve(ctx, listener, handler, httpserver.Options{Name: "hub", Grace: time.Second, Logger: slog.Default()})
}
