package serving_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/local/embedded/nats"
	local "github.com/gorizond/koldun/internal/local/process"
	"github.com/gorizond/koldun/test/sourcetest"

	"github.com/gorizond/koldun/test/history"
)

// TestMain also runs this binary as the processes around Koldun: the first argument
// names the role.
func TestMain(m *testing.M) {
	local.ExitWithParent()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "role-nats":
			roleNATS(os.Args[2], os.Args[3], os.Args[4] == "sync")
			return
		case "role-member":
			roleMember(os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6], os.Args[7])
			return
		case "role-relay":
			roleRelay(os.Args[2], os.Args[3], os.Args[4:])
			return
		case "role-proxy":
			roleProxy(os.Args[2], os.Args[3])
			return
		case "role-fence":
			roleFence(os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6:])
			return
		case "role-engine":
			roleEngine(os.Args[2], os.Args[3])
			return
		}
	}
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

func ended() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	return ctx
}

func roleNATS(dir, listen string, sync bool) {
	srv, err := nats.Start(ended(), nats.Config{Dir: dir, Listen: listen, Authority: readAuthority(), SyncAlways: sync})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	srv.Wait()
}

func roleEngine(listen, slots string) {
	e := history.NewEngine(listen, os.Stdout)
	if n, err := strconv.Atoi(slots); err == nil && n > 1 {
		e.Slots = n + 2 // accept more, so that the checker sees an excess
	}
	if err := e.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx := ended()
	for ctx.Err() == nil {
		if why := e.Aborted(); why != "" {
			fmt.Fprintln(os.Stderr, "aborted:", why)
			os.Exit(aborted)
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	e.Stop()
}

// built is the binary that all tests run.
var built struct {
	sync.Once
	dir string // "" if nothing was built
	err error
}

// koldun returns the path of the binary: $KOLDUN_BIN, or one that it builds once.
func koldun(tb testing.TB) string {
	tb.Helper()
	if path := os.Getenv("KOLDUN_BIN"); path != "" {
		return path
	}
	built.Do(func() {
		if built.err = sourcetest.Program(context.Background(), "../..", "cmd/koldun"); built.err != nil {
			return
		}
		if built.dir, built.err = os.MkdirTemp("", "koldun-serving-"); built.err != nil {
			return
		}
		build := exec.Command("go", "build", "-o", built.dir, "../../cmd/koldun")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make builds it
		if out, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
		}
	})
	if built.err != nil {
		tb.Fatalf("cannot build koldun: %v", built.err)
	}
	return filepath.Join(built.dir, "koldun")
}
