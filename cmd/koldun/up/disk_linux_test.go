package up_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
)

func TestUpFullDiskEndsWithOneMessage(t *testing.T) {
	cases := map[string]struct {
		size string
		says []string
	}{
		"NoRoomForTheSource":     {"size=1m", []string{"DownloadFailed", "no space is left on its disk", "koldun-tiny"}},
		"NoRoomForTheConversion": {"size=4m", []string{"ConversionFailed", "no space is left on its disk", "dllama_model_koldun-tiny_q40.m"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			if err := syscall.Mount("tmpfs", data, "tmpfs", 0, c.size); err != nil {
				t.Skipf("cannot mount a small disk (%v): run as root: go test -run %s ./cmd/koldun/up", err, t.Name())
			}
			t.Cleanup(func() { _ = syscall.Unmount(data, syscall.MNT_DETACH) })
			p := up(t, data, "--once")
			if code := p.Exit(t); code != 10 {
				t.Errorf("exit status %d, want 10", code)
			}
			lines := strings.Split(strings.TrimSpace(p.Text()), "\n")
			last := lines[len(lines)-1]
			for _, want := range c.says {
				if !strings.Contains(last, want) {
					t.Errorf("last line: got %q, want %q in it", last, want)
				}
			}
			programtest.NothingHalfWritten(t, data)
		})
	}
}
