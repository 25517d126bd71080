package fetch_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/artifact/objectstore/storeurl"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
)

// memoryEnv is the size of a file in GiB. The file goes to a bucket that discards
// it, so it needs no disk space:
//
//	KOLDUN_MEMORY_GIB=20 go test -run TestMemory -v ./internal/artifact/fetch
const memoryEnv = "KOLDUN_MEMORY_GIB"

// A process that fetches takes at most 128 MiB for a model of any size.
func TestMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory of its own; run it with: go test -run TestMemory ./internal/artifact/fetch")
	}
	t.Run("Gateway", func(t *testing.T) {
		b := s3test.New(t)
		measure(t, 256<<20, "s3://"+b.Name+"/m", b.Config)
	})
	t.Run("Sink", func(t *testing.T) {
		gib := int64(1)
		if s := os.Getenv(memoryEnv); s != "" {
			n, err := strconv.ParseInt(s, 10, 32)
			if err != nil {
				t.Fatalf("%s: %v", memoryEnv, err)
			}
			gib = n
		}
		measure(t, gib<<30, "s3://bucket/m", newSink(t))
	})
}

func measure(t *testing.T, size int64, target string, cfg s3.Config) {
	t.Helper()
	h := bigRepo(t, size)
	out, _ := runVictim(t, order{Hub: h.URL, Repo: h.Repo, Target: target, S3: cfg, Usual: true}, 0)
	var used int64 // KiB
	if _, err := fmt.Sscanf(out, "VmHWM: %d kB", &used); err != nil {
		t.Skipf("the memory of a process is not told here: %v; run it on Linux", err)
	}
	t.Logf("%d MiB for a file of %d MiB", used>>10, size>>20)
	if used > 128<<10 {
		t.Errorf("%d MiB for a file of %d MiB, want at most 128 MiB", used>>10, size>>20)
	}
	to, err := storeurl.Open(t.Context(), target, cfg)
	if err != nil {
		t.Fatal(err)
	}
	o, err := to.Stat(t.Context(), "model.safetensors")
	if err != nil || o.Size != size || o.Token == "" {
		t.Errorf("Stat = %+v, %v", o, err)
	}
}
