package fetch_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
)

// memoryEnv is the size of the file in GiB; a run with more than usual is
//
//	KOLDUN_MEMORY_GIB=20 go test -run TestMemory -v ./internal/fetch
const memoryEnv = "KOLDUN_MEMORY_GIB"

// A process that fetches takes at most 128 MiB, whatever the model's size.
func TestMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory of its own")
	}
	size := int64(512 << 20)
	if s := os.Getenv(memoryEnv); s != "" {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			t.Fatalf("%s: %v", memoryEnv, err)
		}
		size = n << 30
	}
	h := bigRepo(t, size)
	b := s3test.New(t)
	out, _ := runVictim(t, order{Hub: h.URL, Repo: h.Repo, Target: "s3://" + b.Name + "/m", S3: b.Config, Usual: true}, 0)
	var used int64 // KiB
	if _, err := fmt.Sscanf(out, "VmHWM: %d kB", &used); err != nil {
		t.Skipf("the memory of a process is not told here: %v", err)
	}
	t.Logf("%d MiB for a file of %d MiB", used>>10, size>>20)
	if used > 128<<10 {
		t.Errorf("%d MiB for a file of %d MiB, want at most 128 MiB", used>>10, size>>20)
	}
	o, err := b.Store(t, "m").Stat(t.Context(), "model.safetensors")
	if err != nil || o.Size != size {
		t.Errorf("Stat = %+v, %v", o, err)
	}
}
