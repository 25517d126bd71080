package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/model/progress"
)

var (
	start    = time.Unix(1000, 0)
	dllama   = local.Key{APIVersion: local.CompositeGroup + "/v1", Kind: "Dllama", Namespace: "default", Name: "tiny"}
	ingress  = local.Key{APIVersion: local.CompositeGroup + "/v1", Kind: "Ingress", Namespace: "default", Name: "tiny"}
	gateway  = local.Key{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "tiny-gateway"}
	svc      = local.Key{APIVersion: "v1", Kind: "Service", Namespace: "default", Name: "tiny-gateway"}
	route    = local.Key{APIVersion: "networking.k8s.io/v1", Kind: "Ingress", Namespace: "default", Name: "tiny"}
	artifact = local.Key{APIVersion: local.ManagedGroup + "/v1alpha1", Kind: "ModelArtifact", Namespace: "default", Name: "src"}
	job      = local.Key{APIVersion: "batch/v1", Kind: "Job", Namespace: "default", Name: "fetch"}
)

// story is a run from its beginning to its end; tenths of a second pass.
func story() []local.Event {
	serving := func(status, reason, message string) local.Condition {
		return local.Condition{Type: local.Serving, Status: status, Reason: reason, Message: message}
	}
	events := []local.Event{
		{Type: local.Added, Object: dllama},
		{Type: local.Added, Object: ingress, Owner: dllama, Role: "ingress"},
		{Type: local.Added, Object: artifact, Owner: dllama, Role: "source"},
		{Type: local.Added, Object: job, Owner: dllama, Role: "fetch"},
		{Type: local.ConditionChanged, Object: dllama, Condition: serving(local.False, "Downloading", "1 of 2")},
		{Type: local.ConditionChanged, Object: dllama, Condition: serving(local.False, "Downloading", "2 of 2")},
		{Type: local.ProgressMade, Object: artifact, Progress: progress.Report{
			Stage: "fetch", Phase: progress.Running, Bytes: 1 << 20, Total: 2 << 20, BytesPerSecond: 1 << 20, Item: "a.safetensors",
		}},
		{Type: local.ProcessEnded, Object: job, Pod: "fetch", Container: "main", Message: "exited with status 0"},
		{Type: local.ProgressMade, Object: artifact, Progress: progress.Report{Stage: "fetch", Phase: progress.Done, Bytes: 2 << 20, Total: 2 << 20}},
		{Type: local.JobEnded, Object: job, Message: "completed"},
		{Type: local.Removed, Object: job},
		{Type: local.Added, Object: gateway, Owner: ingress, Role: "gateway"},
		{Type: local.Added, Object: svc, Owner: ingress, Role: "service"},
		{Type: local.Listening, Object: svc, Endpoint: local.Endpoint{Service: svc, Port: 8082, Address: "127.0.0.1:8082"}},
		{Type: local.Added, Object: route, Owner: ingress, Role: "route"},
		{Type: local.NotRunHere, Object: route, Message: "other\nkind\x1b[2J"},
		{Type: local.ProcessStarted, Object: gateway, Pod: "tiny-gateway-0", Container: "gateway", PID: 1},
		{Type: local.ProcessEnded, Object: gateway, Pod: "tiny-gateway-0", Container: "gateway", Message: "was ended by signal killed", RestartIn: 200 * time.Millisecond},
		{Type: local.ProcessStarted, Object: gateway, Pod: "tiny-gateway-0", Container: "gateway", PID: 2},
		{Type: local.BecameReady, Object: gateway, Message: "1/1"},
		{Type: local.ConditionChanged, Object: dllama, Condition: serving(local.True, "Available", "")},
		{Type: local.BecameReady, Object: dllama},
		{Type: local.BecameReady, Object: dllama},
		{Type: local.Stopping},
		{Type: local.Stopped},
	}
	for i := range events {
		events[i].Time = start.Add(time.Duration(i) * 100 * time.Millisecond)
	}
	return events
}

func TestPlain(t *testing.T) {
	var b strings.Builder
	term := New(&b, Options{})
	for _, e := range story() {
		term.Observe(e)
	}
	want := `   0.0s - Dllama tiny
   0.4s - Dllama tiny Downloading: 1 of 2
   0.6s - fetch  50%  1.0 MiB of 2.0 MiB  1.0 MiB/s  1.0s left
   0.8s + fetch 2.0 MiB
   0.9s + Job fetch completed after 0.6s
   1.3s + Service tiny-gateway listens on http://127.0.0.1:8082
   1.5s - Ingress tiny is not run here: other kind[2J
   1.7s ! tiny-gateway-0/gateway was ended by signal killed; again in 0.2s
   1.8s + restarted tiny-gateway-0/gateway
   1.9s + Deployment tiny-gateway is ready 1/1 after 0.8s
   2.0s + Dllama tiny Available
   2.1s + Dllama tiny is ready after 2.1s
          ` + "`" + `- ingress     Ingress tiny
             |- gateway     Deployment tiny-gateway  1/1
             |- service     Service tiny-gateway  http://127.0.0.1:8082
             ` + "`" + `- route       Ingress tiny  not run here
   2.2s + Dllama tiny is ready again
   2.3s - stopping
   2.4s + stopped; nothing is left running
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestLiveBarsAreDrawnOverAndFit(t *testing.T) {
	var b strings.Builder
	term := New(&b, Options{Live: true, Width: func() int { return 40 }})
	for _, e := range story()[:9] {
		term.Observe(e)
	}
	bar := "    fetch ====-----  50%  1.0 MiB of 2."
	if got := b.String(); !strings.Contains(got, bar+"\n") {
		t.Errorf("no bar of 39 columns in %q", got)
	}
	if got := b.String(); !strings.HasSuffix(got, "\x1b[1A\r\x1b[J   0.8s + fetch 2.0 MiB\n") {
		t.Errorf("the bar is not replaced by its end: %q", got)
	}
}

func TestColorsOnlyWhenAskedFor(t *testing.T) {
	for name, o := range map[string]Options{"Plain": {}, "Color": {Color: true, Unicode: true}} {
		var b strings.Builder
		term := New(&b, o)
		for _, e := range story() {
			term.Observe(e)
		}
		if got := strings.Contains(b.String(), "\x1b["); got != o.Color {
			t.Errorf("%s: escape codes: %v", name, got)
		}
		if strings.Contains(b.String(), "\x1b[2J") {
			t.Errorf("%s: a message plays with the terminal", name)
		}
	}
}

func TestHold(t *testing.T) {
	var b strings.Builder
	term := New(&b, Options{Live: true})
	events := story()
	for _, e := range events[:7] {
		term.Observe(e)
	}
	release := term.Hold()
	before := b.String()
	if !strings.HasSuffix(before, "\x1b[1A\r\x1b[J") {
		t.Errorf("the bar stays: %q", before)
	}
	for _, e := range events[7:10] {
		term.Observe(e)
	}
	if b.String() != before {
		t.Error("something is written while held")
	}
	release()
	release()
	if got := strings.TrimPrefix(b.String(), before); got != "   0.8s + fetch 2.0 MiB\n   0.9s + Job fetch completed after 0.6s\n" {
		t.Errorf("after release: %q", got)
	}
}

func TestWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0.0s", 1500 * time.Millisecond: "1.5s", 65 * time.Second: "1m05s", 90 * time.Minute: "1h30m",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
	for line, want := range map[string]string{"abcdef": "abc", "ab": "ab", "\x1b[1mabcd\x1b[0m": "\x1b[1mabc\x1b[0m", "жжжж": "жжж"} {
		if got := cut(line, 3); got != want {
			t.Errorf("cut(%q) = %q, want %q", line, got, want)
		}
	}
}

func TestABarEndsWhenItsResultIsThere(t *testing.T) {
	var b strings.Builder
	term := New(&b, Options{Live: true, Width: func() int { return 40 }})
	for _, e := range story()[:7] {
		term.Observe(e)
	}
	term.Observe(local.Event{Time: start.Add(800 * time.Millisecond), Type: local.BecameReady, Object: artifact})
	if got := b.String(); !strings.HasSuffix(got, "\x1b[1A\r\x1b[J   0.8s + fetch 2.0 MiB\n") {
		t.Errorf("the bar of an artifact that is ready is still there: %q", got)
	}
}
