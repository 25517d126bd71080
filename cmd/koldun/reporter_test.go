package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/model/progress"
)

// Terminal and log show the same numbers.
func TestReportsForPeople(t *testing.T) {
	half := progress.Report{Stage: "fetch", Phase: progress.Running, Item: "a.safetensors", Bytes: 1 << 30, Total: 2 << 30, BytesPerSecond: 16 << 20}
	var out bytes.Buffer
	draw := bar(&out)
	_ = draw(half)
	if got, want := out.String(), "\r\033[Kfetch  50%  1.0 GiB of 2.0 GiB, 16.0 MiB/s, 1m4s left  a.safetensors"; got != want {
		t.Errorf("bar: got %q, want %q", got, want)
	}
	out.Reset()
	_ = draw(progress.Report{Stage: "fetch", Phase: progress.Done, Bytes: 5, Total: 5})
	if got, want := out.String(), "\r\033[Kfetch 100%  5 B of 5 B\n"; got != want {
		t.Errorf("last bar: got %q, want %q", got, want)
	}
	out.Reset()
	say := lines(slog.New(slog.NewTextHandler(&out, nil)))
	_ = say(half)
	_ = say(half) // too soon
	for _, want := range []string{"bytes=1073741824", "total=2147483648", "percent=50", "bytes-per-second=16777216", "eta=1m4s"} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("log does not contain %q exactly once: %s", want, out.String())
		}
	}
}
