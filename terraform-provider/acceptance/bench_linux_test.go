package acceptance

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkPlan200 plans 200 of our resources without a change. own-s is the time
// beyond that of 200 resources of OpenTofu itself, own-cpu-s the same in CPU
// time, and provider-MiB the peak memory of a process of the provider.
func BenchmarkPlan200(b *testing.B) {
	ours := mirror(b).Folder(b, head+`
resource "koldun_stream" "s" {
  count    = 60
  name     = "bench-${count.index}"
  subjects = ["bench.${count.index}.>"]
}
resource "koldun_key_value" "k" {
  count  = 60
  bucket = "bench-${count.index}"
}
resource "koldun_bucket" "b" {
  count         = 20
  bucket_name   = "bench-${count.index}"
  force_destroy = true
}
resource "koldun_key_value_entry" "e" {
  count  = 60
  bucket = koldun_key_value.k[count.index].bucket
  key    = "k"
  value  = "v"
}
`, servers(b)...)
	theirs := mirror(b).Folder(b, `resource "terraform_data" "d" {
  count = 200
  input = count.index
}`)
	ours.OK("apply", "-auto-approve")
	theirs.OK("apply", "-auto-approve")
	var with, without, cpu time.Duration
	var memory int64
	for b.Loop() {
		begin := time.Now()
		r := theirs.Run("plan", "-detailed-exitcode")
		if r.Exit != 0 {
			b.Fatal(r.Out)
		}
		cpu -= r.Cmd.ProcessState.UserTime() + r.Cmd.ProcessState.SystemTime()
		without += time.Since(begin)
		stop := watchMemory(&memory)
		begin = time.Now()
		if r = ours.Run("plan", "-detailed-exitcode"); r.Exit != 0 {
			b.Fatal(r.Out)
		}
		cpu += r.Cmd.ProcessState.UserTime() + r.Cmd.ProcessState.SystemTime()
		with += time.Since(begin)
		stop()
	}
	b.ReportMetric((with-without).Seconds()/float64(b.N), "own-s")
	b.ReportMetric(cpu.Seconds()/float64(b.N), "own-cpu-s")
	b.ReportMetric(with.Seconds()/float64(b.N), "plan-s")
	b.ReportMetric(float64(memory)/1024, "provider-MiB")
}

// watchMemory records the peak memory in KiB of the provider's processes until
// stop is called.
func watchMemory(most *int64) (stop func()) {
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				*most = max(*most, providerMemory())
			}
		}
	})
	return func() { close(done); watch.Wait() }
}

// providerMemory returns the high-water mark in KiB of the largest provider
// process.
func providerMemory() int64 {
	var most int64
	all, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range all {
		target, err := os.Readlink(exe)
		if err != nil || !strings.HasPrefix(filepath.Base(target), "terraform-provider-koldun") {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(exe), "status"))
		for _, line := range strings.Split(string(status), "\n") {
			if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
				most = max(most, n)
			}
		}
	}
	return most
}
